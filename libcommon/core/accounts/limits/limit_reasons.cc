#include "core/accounts/limits/limit_reasons.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/duration.h"
#include "base/saturating.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

// The word for a TRES in reasons: of accounts and users, and of a QOS.
struct Word {
  std::string_view tres, association, qos;
};
using Words = std::array<Word, 6>;

constexpr Words kWords{{{"cpu", "Cpu", "Cpu"},
                        {"mem", "Mem", "Memory"},
                        {"node", "Node", "Node"},
                        {"gres/", "GRES", "GRES"},
                        {"license/", "License", "License"},
                        {"billing", "Billing", "Billing"}}};

// The reason; '*' stands for the word of the TRES.
struct Row {
  LimitKind kind;
  std::string_view association, qos;
};
constexpr std::array<Row, 21> kRows{{
    {LimitKind::grp_jobs, "AssocGrpJobsLimit", "QOSGrpJobsLimit"},
    {LimitKind::grp_submit_jobs, "AssocGrpSubmitJobsLimit", "QOSGrpSubmitJobsLimit"},
    {LimitKind::grp_tres, "AssocGrp*", "QOSGrp*"},
    {LimitKind::grp_tres_mins, "AssocGrp*Minutes", "QOSGrp*Minutes"},
    {LimitKind::grp_tres_run_mins, "AssocGrp*RunMinutes", "QOSGrp*RunMinutes"},
    {LimitKind::grp_wall, "AssocGrpWallLimit", "QOSGrpWallLimit"},
    {LimitKind::max_jobs, "AssocMaxJobsLimit", ""},
    {LimitKind::max_submit_jobs, "AssocMaxSubmitJobLimit", ""},
    {LimitKind::max_tres_per_job, "AssocMax*PerJob", "QOSMax*PerJob"},
    {LimitKind::max_tres_mins_per_job, "AssocMax*MinutesPerJob", "QOSMax*MinutesPerJob"},
    {LimitKind::max_tres_per_node, "AssocMax*PerNode", "QOSMax*PerNode"},
    {LimitKind::max_wall, "AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"},
    {LimitKind::max_jobs_per_user, "", "QOSMaxJobsPerUserLimit"},
    {LimitKind::max_jobs_per_account, "", "MaxJobsPerAccount"},
    {LimitKind::max_submit_jobs_per_user, "", "QOSMaxSubmitJobPerUserLimit"},
    {LimitKind::max_submit_jobs_per_account, "", "MaxSubmitJobsPerAccount"},
    {LimitKind::max_tres_per_user, "", "QOSMax*PerUser"},
    {LimitKind::max_tres_per_account, "", "Max*PerAccount"},
    {LimitKind::max_tres_run_mins_per_user, "", "Max*RunMinsPerUser"},
    {LimitKind::max_tres_run_mins_per_account, "", "Max*RunMinsPerAccount"},
    {LimitKind::min_tres_per_job, "", "QOSMin*"},
}};

// Reasons that Slurm spells differently from the rule that its newer reasons follow.
struct Spelling {
  std::string_view rule, name;
};
constexpr std::array<Spelling, 19> kSpellings{{
    {"AssocGrpCpu", "AssocGrpCpuLimit"},
    {"AssocGrpMem", "AssocGrpMemLimit"},
    {"AssocGrpNode", "AssocGrpNodeLimit"},
    {"AssocGrpCpuMinutes", "AssocGrpCPUMinutesLimit"},
    {"AssocGrpCpuRunMinutes", "AssocGrpCPURunMinutesLimit"},
    {"AssocMaxCpuPerJob", "AssocMaxCpuPerJobLimit"},
    {"AssocMaxNodePerJob", "AssocMaxNodePerJobLimit"},
    {"AssocMaxCpuMinutesPerJob", "AssocMaxCpuMinutesPerJobLimit"},
    {"QOSGrpCpu", "QOSGrpCpuLimit"},
    {"QOSGrpMemory", "QOSGrpMemLimit"},
    {"QOSGrpNode", "QOSGrpNodeLimit"},
    {"QOSGrpCpuMinutes", "QOSGrpCPUMinutesLimit"},
    {"QOSGrpCpuRunMinutes", "QOSGrpCPURunMinutesLimit"},
    {"QOSMaxCpuPerJob", "QOSMaxCpuPerJobLimit"},
    {"QOSMaxNodePerJob", "QOSMaxNodePerJobLimit"},
    {"QOSMaxCpuMinutesPerJob", "QOSMaxCpuMinutesPerJobLimit"},
    {"QOSMaxCpuPerUser", "QOSMaxCpuPerUserLimit"},
    {"QOSMaxNodePerUser", "QOSMaxNodePerUserLimit"},
    {"QOSMinCpu", "QOSMinCpuNotSatisfied"},
}};

constexpr std::uint32_t kPlain = 1000;

// amount * by / parts, rounded down; whole parts are multiplied apart, to keep precision and range.
std::uint64_t times(std::uint64_t amount, std::uint64_t by, std::uint64_t parts) {
  const std::uint64_t whole = capped_product(amount / parts, by);
  return capped_sum(whole, amount % parts * by / parts);
}

const Row* find_row(LimitKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return &row;
  return nullptr;
}

}  // namespace

std::string reason_name(LimitKind kind, std::string_view tres, bool qos) {
  const Row* row = find_row(kind);
  if (!row) return {};
  std::string name(qos ? row->qos : row->association);
  const auto star = name.find('*');
  if (star == std::string::npos) return name;
  std::string_view word;
  for (const Word& one : kWords)
    if (one.tres.ends_with('/') ? tres.starts_with(one.tres) : tres == one.tres)
      word = qos ? one.qos : one.association;
  name.replace(star, 1, word);
  for (const Spelling& spelling : kSpellings)
    if (name == spelling.rule) return std::string(spelling.name);
  return name;
}

std::uint64_t units_of(std::string_view tres) {
  return tres.starts_with("gres/gpu") ? kWholeGpu : 1;
}

std::string amount_text(std::string_view tres, std::uint64_t units) {
  if (units == std::numeric_limits<std::uint64_t>::max()) return "unlimited";
  if (units_of(tres) != 1) return format_thousandths(static_cast<std::int64_t>(units));
  return std::to_string(units) + (tres == "mem" ? "M" : "");
}

LimitScale account_scale(const Limit& limit, const Qos* own) {
  using enum LimitKind;
  const bool widened =
      limit.kind == grp_tres || limit.kind == max_tres_per_job || limit.kind == max_tres_per_node;
  return {widened && own ? own->limit_factor : kPlain, false, {}};
}

LimitScale qos_scale(const Limit& limit, const Qos& qos, const std::string& partition) {
  const bool percent = qos.has(QosFlag::relative) && row_of(limit.kind).unit == LimitUnit::tres;
  return {kPlain, percent, percent ? partition : std::string()};
}

std::uint64_t most_of(const Limit& limit, const LimitScale& scale, ClusterTotals& cluster_totals) {
  if (limit.tres.empty()) return limit.value;
  if (scale.percent) return times(cluster_totals.of(scale.of, limit.tres), limit.value, 100);
  return times(capped_product(limit.value, units_of(limit.tres)), scale.factor, kPlain);
}

std::string limit_text(const Limit& limit, const LimitScale& scale, ClusterTotals& cluster_totals) {
  if (scale.percent)
    return limit.tres + "=" + std::to_string(limit.value) + " % of " +
           amount_text(limit.tres, cluster_totals.of(scale.of, limit.tres));
  if (scale.factor != kPlain)
    return limit_text(limit) + " times " + format_thousandths(scale.factor);
  return limit_text(limit);
}

std::string limit_text(const Limit& limit) {
  if (row_of(limit.kind).unit == LimitUnit::minutes)
    return format_duration(Seconds(static_cast<std::int64_t>(limit.value) * 60));
  if (limit.tres.empty()) return std::to_string(limit.value);
  return limit.tres + "=" +
         amount_text(limit.tres, capped_product(limit.value, units_of(limit.tres)));
}

}  // namespace ares::core
