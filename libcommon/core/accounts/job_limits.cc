#include "core/accounts/job_limits.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/duration.h"
#include "base/saturating.h"
#include "core/sched/requested.h"
#include "model/gpu_part.h"

namespace ares::core {
namespace {

// How reasons name what a limit is of.
struct Word {
  std::string_view tres, association, qos;
};

struct KindRow {
  LimitKind kind;
  std::string_view association, qos;  // the reason around the word, which stands for '*'
  std::array<Word, 6> words;
  bool least = false;  // too little is what is wrong
};

constexpr std::array<Word, 6> kPerJob{{{"cpu", "Cpu", "Cpu"},
                                       {"mem", "Mem", "Memory"},
                                       {"node", "Node", "Node"},
                                       {"gres/", "GRES", "GRES"},
                                       {"license/", "License", "License"},
                                       {"billing", "Billing", "Billing"}}};

// Reasons as users of Slurm know them.
constexpr std::array<KindRow, 4> kKinds{{
    {LimitKind::max_tres_per_job, "AssocMax*PerJob", "QOSMax*PerJob", kPerJob},
    {LimitKind::max_tres_per_node, "AssocMax*PerNode", "QOSMax*PerNode", kPerJob},
    {LimitKind::max_tres_mins_per_job, "AssocMax*MinutesPerJob", "QOSMax*MinutesPerJob", kPerJob},
    {LimitKind::min_tres_per_job, "", "QOSMin*", kPerJob, true},
}};
// Some of them end in "Limit", and one is spelled otherwise.
constexpr std::array<std::string_view, 6> kWithLimit{
    "AssocMaxCpuPerJob", "AssocMaxNodePerJob", "AssocMaxCpuMinutesPerJob",
    "QOSMaxCpuPerJob",   "QOSMaxNodePerJob",   "QOSMaxCpuMinutesPerJob"};

std::string reason_name(const KindRow& row, std::string_view tres, bool qos) {
  std::string name(qos ? row.qos : row.association);
  std::string_view word;
  for (const Word& one : row.words)
    if (one.tres.ends_with('/') ? tres.starts_with(one.tres) : tres == one.tres)
      word = qos ? one.qos : one.association;
  name.replace(name.find('*'), 1, word);
  if (name == "QOSMinCpu") return "QOSMinCpuNotSatisfied";
  const bool limit = std::find(kWithLimit.begin(), kWithLimit.end(), name) != kWithLimit.end();
  return limit ? name + "Limit" : name;
}

// GPUs are counted in thousandths, as jobs may ask for parts of one; limits are of whole ones.
std::uint64_t units_of(std::string_view tres) {
  return tres.starts_with("gres/gpu") ? kWholeGpu : 1;
}

// What the job asks for, under the names of limits, in those units.
struct Asked {
  const JobSpec& spec;
  const Partition& partition;
  std::optional<Seconds> time_limit;
  const TresByNode* gets;

  std::uint64_t amount(std::string_view tres) const {
    constexpr std::string_view kLicense = "license/";
    if (!tres.starts_with(kLicense)) {
      if (!gets) return sched::requested(spec, &partition, tres);
      std::uint64_t sum = 0;
      for (const auto& node : *gets)
        if (const auto found = node.find(tres); found != node.end())
          sum = capped_sum(sum, found->second);
      return sum;
    }
    std::uint64_t sum = 0;
    for (const LicenseRequest& license : spec.licenses)
      if (license.name == tres.substr(kLicense.size()))
        sum = capped_sum<std::uint64_t>(sum, license.count);
    return sum;
  }
  // On the node that has most of it, if it spreads as evenly as it can.
  std::uint64_t on_a_node(std::string_view tres) const {
    std::uint64_t most = 0;
    if (gets)
      for (const auto& node : *gets)
        if (const auto found = node.find(tres); found != node.end())
          most = std::max(most, found->second);
    if (gets) return most;
    const std::uint64_t nodes = std::max<std::uint64_t>(spec.min_nodes, 1);
    return amount(tres) / nodes + (amount(tres) % nodes > 0 ? 1 : 0);
  }
  std::uint64_t minutes() const {
    if (!time_limit) return std::numeric_limits<std::uint64_t>::max();
    const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time_limit->count(), 0));
    return seconds / 60 + (seconds % 60 > 0 ? 1 : 0);
  }
  std::uint64_t of(LimitKind kind, std::string_view tres) const {
    if (kind == LimitKind::max_tres_per_node) return on_a_node(tres);
    if (kind == LimitKind::max_tres_mins_per_job)
      return amount(tres) == 0 ? 0 : capped_product(amount(tres), minutes());
    return amount(tres);
  }
};

std::string amount_text(std::string_view tres, std::uint64_t units) {
  if (units == std::numeric_limits<std::uint64_t>::max()) return "unlimited";
  if (units_of(tres) != 1) return format_thousandths(static_cast<std::int64_t>(units));
  return std::to_string(units) + (tres == "mem" ? "M" : "");
}

// Goes through whose limits hold, the nearest first, and keeps to the first of each kind and TRES.
class Search {
 public:
  explicit Search(const Asked& asked) : asked_(asked) {}

  std::optional<OverLimit> look(const Limits& limits, const std::string& whose, bool qos) {
    for (const Limit& limit : limits) {
      if (!is_enforced(limit.kind) || !seen_.emplace(limit.kind, limit.tres).second) continue;
      if (auto over =
              limit.kind == LimitKind::max_wall ? wall(limit, whose, qos) : tres(limit, whose, qos))
        return over;
    }
    return std::nullopt;
  }

 private:
  std::optional<OverLimit> wall(const Limit& limit, const std::string& whose, bool qos) const {
    if (asked_.minutes() <= limit.value) return std::nullopt;
    return OverLimit{qos ? "QOSMaxWallDurationPerJobLimit" : "AssocMaxWallDurationPerJobLimit",
                     "MaxWall of " + whose + " is " +
                         format_duration(Seconds(static_cast<std::int64_t>(limit.value) * 60)) +
                         ", the job's time limit " + format_time_limit(asked_.time_limit)};
  }

  std::optional<OverLimit> tres(const Limit& limit, const std::string& whose, bool qos) const {
    const auto row = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const KindRow& one) { return one.kind == limit.kind; });
    const std::uint64_t wanted = asked_.of(limit.kind, limit.tres);
    const std::uint64_t bound = capped_product(limit.value, units_of(limit.tres));
    if (row == kKinds.end() || (row->least ? wanted >= bound : wanted <= bound))
      return std::nullopt;
    return OverLimit{reason_name(*row, limit.tres, qos),
                     std::string(row_of(limit.kind).name) + " of " + whose + " is " + limit.tres +
                         "=" + amount_text(limit.tres, bound) + ", the job " +
                         (asked_.gets ? "would get " : "asks for ") +
                         amount_text(limit.tres, wanted)};
  }

  const Asked& asked_;
  std::set<std::pair<LimitKind, std::string>> seen_;
};

}  // namespace

bool is_enforced(LimitKind kind) {
  return kind == LimitKind::max_wall ||
         std::any_of(kKinds.begin(), kKinds.end(),
                     [&](const KindRow& row) { return row.kind == kind; });
}

TresByNode amounts_of(const CowMap<NodeId, Node>& nodes, const std::vector<NodeShare>& shares) {
  TresByNode out;
  for (const NodeShare& share : shares) {
    auto& amounts = out.emplace_back();
    amounts["cpu"] = share.cpus;
    amounts["mem"] =
        static_cast<std::uint64_t>(std::max<std::int64_t>(share.memory.value(), 0)) >> 20;
    amounts["node"] = 1;
    const Node* node = share.gpus.empty() ? nullptr : nodes.find(share.node);
    if (!node) continue;
    for (const Gpu& gpu : node->inventory.gpus) {
      if (!std::binary_search(share.gpus.begin(), share.gpus.end(), gpu.index)) continue;
      amounts["gres/gpu"] += held_of_each(share.gpu_part);
      amounts["gres/gpu:" + gpu.type] += held_of_each(share.gpu_part);
    }
  }
  return out;
}

std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce, const JobSpec& spec,
                                    const Partition& partition, std::optional<Seconds> time_limit,
                                    const TresByNode* gets) {
  if (enforce < Enforce::limits || records.empty()) return std::nullopt;
  const Asked asked{spec, partition, time_limit, gets};
  Search search(asked);
  const Qos* qos = find_qos(records, spec.qos.empty() ? kNormalQos : spec.qos);
  const bool refuse = qos && qos->has(QosFlag::deny_on_limit);
  std::optional<OverLimit> over;
  if (qos) over = search.look(qos->limits, "QOS " + qos->name, true);
  if (!over)
    each_terms(chain_of(records, spec.account, spec.user, partition.name),
               [&](const Terms& terms, const std::string& name) {
                 over = search.look(terms.limits, name, false);
                 return !over;
               });
  if (over) over->refuse = refuse;
  return over;
}

}  // namespace ares::core
