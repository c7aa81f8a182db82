#include "model/accounts/accounts.h"

#include <algorithm>
#include <array>

#include "base/printable.h"

namespace ares {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

struct ShortName {
  std::string_view shorter, name;
};
constexpr std::array<ShortName, 17> kShortNames{{
    {"MaxTRES", "MaxTRESPerJob"},
    {"MaxTRESPJ", "MaxTRESPerJob"},
    {"MaxTRESMins", "MaxTRESMinsPerJob"},
    {"MaxTRESMinsPJ", "MaxTRESMinsPerJob"},
    {"MaxTRESPN", "MaxTRESPerNode"},
    {"MaxWallDurationPerJob", "MaxWall"},
    {"GrpSubmit", "GrpSubmitJobs"},
    {"MaxSubmit", "MaxSubmitJobs"},
    {"MaxJobsPU", "MaxJobsPerUser"},
    {"MaxJobsPA", "MaxJobsPerAccount"},
    {"MaxSubmitJobsPU", "MaxSubmitJobsPerUser"},
    {"MaxSubmitJobsPA", "MaxSubmitJobsPerAccount"},
    {"MaxTRESPU", "MaxTRESPerUser"},
    {"MaxTRESPA", "MaxTRESPerAccount"},
    {"MaxTRESRunMinsPU", "MaxTRESRunMinsPerUser"},
    {"MaxTRESRunMinsPA", "MaxTRESRunMinsPerAccount"},
    {"MinTRES", "MinTRESPerJob"},
}};

}  // namespace

const std::vector<LimitRow>& limit_table() {
  using enum LimitKind;
  using enum LimitUnit;
  static const std::vector<LimitRow> rows{
      {grp_jobs, "GrpJobs", count, true, true, "jobs that run at a time, all together"},
      {grp_jobs_accrue, "GrpJobsAccrue", count, true, true,
       "waiting jobs that gain age priority, all together"},
      {grp_submit_jobs, "GrpSubmitJobs", count, true, true,
       "jobs that wait or run at a time, all together"},
      {grp_tres, "GrpTRES", tres, true, true, "TRES that running jobs hold, all together"},
      {grp_tres_mins, "GrpTRESMins", tres_minutes, true, true,
       "TRES-minutes used, by all jobs there ever were, as they decay"},
      {grp_tres_run_mins, "GrpTRESRunMins", tres_minutes, true, true,
       "TRES-minutes that running jobs may still use by their limits, all together"},
      {grp_wall, "GrpWall", minutes, true, true, "minutes of jobs, all together, as they decay"},
      {max_jobs, "MaxJobs", count, true, false, "jobs of each user that run at a time"},
      {max_jobs_accrue, "MaxJobsAccrue", count, true, false,
       "waiting jobs of each user that gain age priority"},
      {max_submit_jobs, "MaxSubmitJobs", count, true, false,
       "jobs of each user that wait or run at a time"},
      {max_tres_per_job, "MaxTRESPerJob", tres, true, true, "TRES of a job"},
      {max_tres_mins_per_job, "MaxTRESMinsPerJob", tres_minutes, true, true,
       "TRES-minutes of a job by its time limit"},
      {max_tres_per_node, "MaxTRESPerNode", tres, true, true, "TRES of a job on each node"},
      {max_wall, "MaxWall", minutes, true, true, "minutes that a job may ask for"},
      {min_prio_thresh, "MinPrioThresh", count, true, true,
       "priority from which on jobs have a planned start"},
      {max_jobs_per_user, "MaxJobsPerUser", count, false, true,
       "jobs of each user that run at a time"},
      {max_jobs_per_account, "MaxJobsPerAccount", count, false, true,
       "jobs of each account that run at a time"},
      {max_jobs_accrue_per_user, "MaxJobsAccruePerUser", count, false, true,
       "waiting jobs of each user that gain age priority"},
      {max_jobs_accrue_per_account, "MaxJobsAccruePerAccount", count, false, true,
       "waiting jobs of each account that gain age priority"},
      {max_submit_jobs_per_user, "MaxSubmitJobsPerUser", count, false, true,
       "jobs of each user that wait or run at a time"},
      {max_submit_jobs_per_account, "MaxSubmitJobsPerAccount", count, false, true,
       "jobs of each account that wait or run at a time"},
      {max_tres_per_user, "MaxTRESPerUser", tres, false, true,
       "TRES that running jobs of each user hold"},
      {max_tres_per_account, "MaxTRESPerAccount", tres, false, true,
       "TRES that running jobs of each account hold"},
      {max_tres_run_mins_per_user, "MaxTRESRunMinsPerUser", tres_minutes, false, true,
       "TRES-minutes that running jobs of each user may still use by their limits"},
      {max_tres_run_mins_per_account, "MaxTRESRunMinsPerAccount", tres_minutes, false, true,
       "TRES-minutes that running jobs of each account may still use by their limits"},
      {min_tres_per_job, "MinTRESPerJob", tres, false, true, "TRES that a job has to ask for"},
  };
  return rows;
}

const LimitRow& row_of(LimitKind kind) {
  return limit_table()[static_cast<std::size_t>(kind)];
}

const LimitRow* find_limit(std::string_view name) {
  for (const ShortName& known : kShortNames)
    if (same_word(name, known.shorter)) name = known.name;
  for (const LimitRow& row : limit_table())
    if (same_word(name, row.name)) return &row;
  return nullptr;
}

std::optional<std::uint64_t> limit_of(const Limits& limits, LimitKind kind, std::string_view tres) {
  for (const Limit& limit : limits)
    if (limit.kind == kind && limit.tres == tres) return limit.value;
  return std::nullopt;
}

const std::vector<QosFlagRow>& qos_flag_table() {
  static const std::vector<QosFlagRow> rows{
      {QosFlag::deny_on_limit, "DenyOnLimit",
       "a job that is over a limit by itself is refused, not kept waiting"},
      {QosFlag::requires_reservation, "RequiresReservation",
       "only jobs that name a reservation may use it"},
      {QosFlag::no_reserve, "NoReserve",
       "its jobs start when they can at once, and are promised nothing ahead of time"},
      {QosFlag::partition_time_limit, "PartitionTimeLimit",
       "its jobs may ask for more time than the partition allows"},
      {QosFlag::partition_max_nodes, "PartitionMaxNodes",
       "its jobs may have more nodes than the partition allows"},
      {QosFlag::partition_min_nodes, "PartitionMinNodes",
       "its jobs may have fewer nodes than the partition wants"},
      {QosFlag::no_decay, "NoDecay",
       "its usage does not decay: its limits on minutes are used up for good"},
      {QosFlag::over_part_qos, "OverPartQOS",
       "its limits come before those of the partition's QOS, not behind them"},
      {QosFlag::relative, "Relative",
       "its limits on what is held at a time are percent of what the cluster has, or the partition "
       "whose QOS it is"},
      {QosFlag::enforce_usage_threshold, "EnforceUsageThreshold",
       "users whose fair share is below its UsageThreshold start no jobs with it"},
  };
  return rows;
}

RecordKey key_of(const AccountingRecord& record) {
  struct Keys {
    RecordKey operator()(const Account& a) const { return {RecordKind::account, a.name, {}, {}}; }
    RecordKey operator()(const User& u) const { return {RecordKind::user, u.name, {}, {}}; }
    RecordKey operator()(const Association& a) const {
      return {RecordKind::association, a.key.account, a.key.user, a.key.partition};
    }
    RecordKey operator()(const Qos& q) const { return {RecordKind::qos, q.name, {}, {}}; }
    RecordKey operator()(const Wckey& w) const {
      return {RecordKind::wckey, w.key.name, w.key.user, {}};
    }
  };
  return std::visit(Keys{}, record);
}

Lsn changed_at(const AccountingRecord& record) {
  return std::visit([](const auto& r) { return r.changed; }, record);
}

std::string describe(const RecordKey& key) {
  switch (key.kind) {
    case RecordKind::account: return "account " + excerpt(key.name);
    case RecordKind::user: return "user " + excerpt(key.name);
    case RecordKind::association:
      return "user " + excerpt(key.user) + " in account " + excerpt(key.name) +
             (key.partition.empty() ? "" : ", partition " + excerpt(key.partition));
    case RecordKind::qos: return "QOS " + excerpt(key.name);
    case RecordKind::wckey: return "wckey " + excerpt(key.name) + " of user " + excerpt(key.user);
  }
  return {};
}

std::string_view to_string(Enforce enforce) {
  switch (enforce) {
    case Enforce::none: return "none";
    case Enforce::associations: return "associations";
    case Enforce::limits: return "limits";
    case Enforce::safe: return "safe";
  }
  return "none";
}

}  // namespace ares
