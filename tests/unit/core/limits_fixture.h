// A cluster whose jobs are subject to limits: account `physics` below `science` with alice as member, and a job to submit.
// For tests only.
#pragma once

#include <optional>
#include <string>

#include "core/accounts/limits/job_limits.h"
#include "core/sched/pass/plan.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {

enum class Level { qos, partition_qos, user, account, above };
inline constexpr Level kLevels[] = {Level::qos, Level::partition_qos, Level::user, Level::account,
                                    Level::above};
inline bool is_qos(Level level) {
  return level == Level::qos || level == Level::partition_qos;
}

inline Policy limited() {
  Policy policy = Cluster::default_policy();
  policy.accounting.enforce = Enforce::limits;
  policy.licenses = {{"matlab", 10}};
  return policy;
}

class LimitsTest : public testing::Test {
 protected:
  using Verb = AccountingChange::Verb;

  static JobSpec job() {
    JobSpec spec = Cluster::spec(kAlice);
    spec.min_nodes = spec.max_nodes = 2;
    spec.tasks = 4;
    spec.memory_per_node = Bytes::mib(1000);
    spec.gpus_per_node = {{"a100", 1}};
    spec.licenses = {{"matlab", 3}};
    spec.time_limit = Seconds{90 * 60};
    return spec;
  }

  // Creates account `physics` below `science`, alice in it, QOS `own` for her jobs and QOS `night`
  // for the partition. Sets `limit`, if any, at `level`; `flags` are flags of `own`.
  std::string set_up(Cluster& c, Level level, const std::optional<Limit>& limit,
                     std::uint32_t flags = 0) {
    Account science, physics;
    science.name = "science";
    physics.name = "physics";
    science.parent = "root";
    physics.parent = "science";
    User alice;
    alice.name = "alice";
    alice.default_account = "physics";
    Association member;
    member.key = {"physics", "alice", {}};
    Qos own;
    own.name = "own";
    own.flags = flags;
    member.terms.qos = {"own"};
    const Limits limits = limit ? Limits{*limit} : Limits{};
    Qos night;
    night.name = "night";
    if (level == Level::qos) own.limits = limits;
    if (level == Level::partition_qos) night.limits = limits;
    if (level == Level::user) member.terms.limits = limits;
    if (level == Level::account) physics.terms.limits = limits;
    if (level == Level::above) science.terms.limits = limits;
    ChangeAccounting all;
    for (AccountingRecord record :
         {AccountingRecord(science), AccountingRecord(physics), AccountingRecord(alice),
          AccountingRecord(member), AccountingRecord(own), AccountingRecord(night)})
      all.changes.push_back({Verb::add, std::move(record), {}});
    const Reply reply = c.user(kOperator, all);
    if (reply.failed) return reply.error.message;
    return partition_qos(c, "night");
  }

  static std::string partition_qos(Cluster& c, const std::string& name) {
    UpdatePartition update;
    update.names = {"main"};
    update.fields = {"qos"};
    update.values.qos = name;
    const Reply reply = c.user(kRoot, update);
    return reply.failed ? reply.error.message : "";
  }

  // Applies what the planner proposes.
  static void take_plan(Cluster& c, const Policy& policy = limited()) {
    c.plan(core::plan(c.state(), policy, Budget{}, c.now).groups);
  }
  static JobKey run_one(Cluster& c) {
    const JobKey key = c.submit(job());
    take_plan(c);
    EXPECT_EQ(c.job(key).state, JobState::configuring);
    return key;
  }
  // The pending reason from the next pass; empty if the job starts.
  static std::string waits_for(Cluster& c, JobKey key) {
    const Plan plan = core::plan(c.state(), limited(), Budget{}, c.now);
    const PendingInfo* why = plan.pending.find(key);
    return why ? std::string(reason_text(*why)) : "";
  }
  static std::string detail(Cluster& c, JobKey key, const Policy& policy = limited()) {
    const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
    const PendingInfo* why = plan.pending.find(key);
    return why ? why->detail : "";
  }
};

// The first limit that the job alone exceeds; billing uses the default weights.
inline std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce,
                                           const JobSpec& spec, const Partition& partition,
                                           std::optional<Seconds> time_limit) {
  const Fairness rules;
  const ClusterState nothing;
  const Policy policy;
  ClusterTotals cluster_totals(nothing, policy);
  return over_limit(records, enforce, RequestedTres{spec, partition, rules, time_limit},
                    cluster_totals);
}

}  // namespace ares::core
