// What a Ranking recomputes at each of its moments: sizes, usage, and the users' order.
#include <algorithm>
#include <limits>

#include "base/saturating.h"
#include "core/accounts/usage/charge.h"
#include "core/accounts/usage/usage.h"
#include "core/fairness/classic.h"
#include "core/fairness/drf.h"
#include "core/fairness/fair_tree.h"
#include "core/sched/queue/ranking.h"
#include "core/state/timers.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {

using namespace fairness;

namespace {

constexpr std::string_view kGpuOf = "gres/gpu:";

// In 1/1024 TRES-seconds, for comparisons. The sum for a whole cluster fits 64 bits with a large
// margin.
std::uint64_t comparable(Amount amount) {
  constexpr U128 kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::uint64_t>(std::min(amount.units >> 22, kMax));
}

// Billing of a configured usage: its own `billing` value if it has one, otherwise the weighted sum.
Amount billed(const TresSeconds& usage, const TresWeights& weights) {
  if (const auto found = usage.find("billing"); found != usage.end())
    return amount_of(found->second);
  Amount sum;
  for (const auto& [name, weight] : weights)
    if (const auto found = usage.find(name); found != usage.end())
      sum = sum + Amount{scaled_product(amount_of(found->second).units, weight, kTresWeightBits)};
  return sum;
}

// Amounts of one attempt: CPUs in the unit of the index, MiB and thousandths of GPUs by type, as columns of the index, and
// the number of nodes.
struct Held {
  std::vector<std::uint64_t> columns;
  std::uint64_t nodes = 0;
  friend auto operator<=>(const Held&, const Held&) = default;
};

Held held_by(const Job& job, const ClusterState& state, const ClusterIndex& index) {
  Held held;
  held.columns.resize(index.gpu_end());
  held.nodes = job.allocation->nodes.size();
  for (const NodeShare& share : job.allocation->nodes) {
    held.columns[kCpus] += static_cast<std::uint64_t>(index.cpus_of(share));
    held.columns[kMemory] +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(share.memory.value(), 0)) >> 20;
    const Node* node = share.gpus.empty() ? nullptr : state.nodes.find(share.node);
    if (!node) continue;
    for (const Gpu& gpu : node->inventory.gpus)
      if (std::binary_search(share.gpus.begin(), share.gpus.end(), gpu.index))
        if (const auto column = index.gpu_column(gpu.type))
          held.columns[*column] += held_of_each(share.gpu_part);
  }
  return held;
}

// The suspended time of an attempt, in which it had no CPUs, is counted as if it had been at the
// beginning. Decay makes that slightly cheaper than the exact value.
Time without_cpus_until(const Job& job, Time moment) {
  return std::min(moment, job.allocation->at + suspended_for(job, moment));
}

// Result in thousandths.
std::uint64_t billed_rate(const Held& held, const ClusterIndex& index, const TresWeights& weights,
                          BillingMode mode) {
  // All amounts are in thousandths, as GPUs are.
  const auto unit = static_cast<std::uint64_t>(index.cpu_unit());
  TresSeconds amounts{{"cpu", held.columns[kCpus] * kWholeCpu / unit},
                      {"mem", held.columns[kMemory] * kWholeGpu},
                      {"node", held.nodes * kWholeGpu}};
  std::uint64_t gpus = 0;
  for (std::size_t i = kFirstGpu; i < held.columns.size(); ++i) {
    gpus += held.columns[i];
    amounts[std::string(kGpuOf) + index.gpu_types()[i - kFirstGpu]] = held.columns[i];
  }
  amounts["gres/gpu"] = gpus;
  return billing(amounts, weights, mode);
}

// Billing rates of attempts: as stored at their start; for attempts started by an earlier release,
// computed from the current rules. In thousandths of thousandths.
class Rates {
 public:
  Rates(const ClusterState& state, const Fairness& rules, const ClusterIndex& index)
      : state_(state), rules_(rules), index_(index) {}

  // `still`: the rate while the attempt is suspended.
  std::uint64_t of(const Job& job, bool still) {
    const ChargedTo& cached = job.allocation->charged_to;
    if (cached != ChargedTo{})
      return capped_product(still ? cached.still_billing : cached.billing,
                            std::uint64_t{cached.factor});
    const TresWeights& weights =
        billing_weights(rules_, state_.partitions.find(job.allocation->partition));
    Held held = held_by(job, state_, index_);
    if (still) held.columns[kCpus] = 0;
    const auto [rate, added] = rates_.try_emplace({&weights, held}, 0);
    if (added) rate->second = billed_rate(held, index_, weights, rules_.billing);
    return capped_product(rate->second, usage_factor(state_.accounting, *job.spec));
  }

 private:
  const ClusterState& state_;
  const Fairness& rules_;
  const ClusterIndex& index_;
  std::map<std::pair<const TresWeights*, Held>, std::uint64_t> rates_;
};

std::optional<std::size_t> column_of(std::string_view tres, const ClusterIndex& index) {
  if (tres == "cpu") return kCpus;
  if (tres == "mem") return kMemory;
  if (tres.starts_with(kGpuOf)) return index.gpu_column(tres.substr(kGpuOf.size()));
  return std::nullopt;
}

// How many of the units of a column one CPU, MiB or GPU has.
std::uint64_t units_in(std::size_t column, const ClusterIndex& index) {
  if (column == kCpus) return static_cast<std::uint64_t>(index.cpu_unit());
  return column < kFirstGpu ? 1 : kWholeGpu;
}

// In the units of requested().
double total_of(std::string_view tres, std::span<const std::int64_t> amounts, std::size_t nodes,
                const ClusterIndex& index) {
  if (tres == "cpu")
    return static_cast<double>(amounts[kCpus]) / static_cast<double>(index.cpu_unit());
  if (tres == "mem") return static_cast<double>(amounts[kMemory] >> 20);
  if (tres == "node") return static_cast<double>(nodes);
  if (tres.starts_with(kGpuOf)) {
    const auto column = index.gpu_column(tres.substr(kGpuOf.size()));
    return column ? static_cast<double>(amounts[*column] * kWholeGpu) : 0;
  }
  if (tres != "gres/gpu") return 0;
  double sum = 0;
  for (const std::int64_t gpus : amounts.subspan(kFirstGpu))
    sum += static_cast<double>(gpus * kWholeGpu);
  return sum;
}

}  // namespace

void Ranking::read_tree(const ClusterState& state) {
  if (rules_->tree.empty()) return;
  tree_.emplace(rules_->tree);
  for (const AccountRow& row : rules_->tree)
    scale_.max_association = std::max(scale_.max_association, row.priority);
  const auto nodes = tree_->nodes();
  const auto parts = normalised_shares(*tree_);
  configured_.resize(nodes.size());
  for (TreeIndex at = 1; at < nodes.size(); ++at) {
    if (!nodes[at].user) continue;
    const AccountRow& row = rules_->tree[nodes[at].row];
    configured_[at] = billed(row.usage, rules_->billing_weights);
    any_configured_ = any_configured_ || configured_[at].units > 0;
    weights_[row.user] += parts[at];
  }
  state.accounting.for_each([&](const RecordKey&, const AccountingRecord& record) {
    if (const auto* one = std::get_if<Association>(&record)) {
      const auto at =
          tree_->find_in(one->key.account == kRootAccount ? "" : one->key.account, one->key.user);
      if (at) association_nodes_.emplace_back(one->id, *at);
    } else if (const auto* account = std::get_if<Account>(&record)) {
      const auto at =
          account->parent.empty() ? std::optional<TreeIndex>(0) : tree_->find_in(account->name, {});
      if (at) association_nodes_.emplace_back(usage_id(*account), *at);
    }
  });
  // Stored usage has the same order.
  std::sort(association_nodes_.begin(), association_nodes_.end());
  stored_.fill(state, association_nodes_);
}

void Ranking::measure(const ClusterState& state, ClusterIndex& index) {
  generation_ = index.generation();
  if (uses(QueuePolicy::multifactor)) measure_scale(state, index);
  if (tree_ && (uses(QueuePolicy::multifactor) || uses(QueuePolicy::fair_tree)))
    rank_accounts(state, index);
  if (by_delivered()) rank_delivered(state, index);
}

void Ranking::measure_scale(const ClusterState& state, ClusterIndex& index) {
  // max_association depends on the tree only, so it is kept.
  scale_ = {.max_association = scale_.max_association};
  scale_.nodes = index.nodes().size();
  for (const IndexedNode& node : index.nodes())
    scale_.cpus += static_cast<std::uint64_t>(node.total[kCpus]);
  scale_.cpus /= static_cast<std::uint64_t>(index.cpu_unit());
  for (const auto& [name, priority] : rules_->qos)
    scale_.max_qos = std::max(scale_.max_qos, priority);
  state.partitions.for_each([&](const std::string&, const Partition& partition) {
    scale_.max_partition = std::max(scale_.max_partition, partition.priority);
  });
  if (rules_->tres_weights.empty()) return;
  for (Served& served : partitions_) {
    Amounts sum(index.gpu_end());
    const auto& members = index.members(*served.partition);
    for (const NodeIndex at : members)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += index.nodes()[at].total[i];
    served.totals.clear();
    for (const auto& [name, weight] : rules_->tres_weights)
      served.totals.push_back(total_of(name, sum, members.size(), index));
  }
}

HalfPower Ranking::since_configured() const {
  if (rules_->usage_time == Seconds::zero()) return {};
  return decay_factor(moment_ - Time(rules_->usage_time), rules_->half_life);
}

void Ranking::rank_accounts(const ClusterState& state, const ClusterIndex& index) {
  Amounts128 usage(configured_.size());
  if (any_configured_) {
    const HalfPower factor = since_configured();
    for (std::size_t i = 0; i < usage.size(); ++i) usage[i] = decayed(configured_[i], factor);
  }
  stored_.add_to(usage, moment_, state.usage_since, rules_->half_life);
  const bool reset = state.usage_since != Time{} || stored_.any_reset();
  Rates rates(state, *rules_, index);
  accruals_.each(state, moment_, [&](const Job& job, Accruals::Cached& cached) {
    if (!cached.account_node) cached.account_node = account_node_of(*job.spec);
    const AccountNode at = *cached.account_node;
    if (!at) return;
    const Association* whose = reset ? find_association(state.accounting, job.spec->account,
                                                        job.spec->user, job.allocation->partition)
                                     : nullptr;
    const Time since = whose ? counted_from(state, whose->id) : state.usage_since;
    const auto add = [&](std::uint64_t rate, Time from, Time to) {
      from = std::max(from, since);
      if (from >= to) return;
      Amount amount = accrued(rate, from, to, moment_, rules_->half_life);
      amount.units /= kWholeGpu * kPlainFactor;
      usage[*at] = usage[*at] + amount;
    };
    const Time worked_from = without_cpus_until(job, moment_);
    add(rates.of(job, false), worked_from, moment_);
    if (worked_from != job.allocation->at)
      add(rates.of(job, true), job.allocation->at, worked_from);
  });
  std::vector<std::uint64_t> by_node(usage.size());
  std::transform(usage.begin(), usage.end(), by_node.begin(), comparable);
  tree_->sum_up(by_node);

  ranks_ = fair_tree(*tree_, by_node);
  if (!uses(QueuePolicy::multifactor)) return;
  factors_.assign(ranks_.size(), 0);
  if (rules_->flags.no_fair_tree) {
    const auto classic = classic_fair_share(*tree_, by_node, rules_->dampening);
    for (std::size_t i = 0; i < factors_.size(); ++i) factors_[i] = classic[i].factor;
  } else {
    for (std::size_t i = 0; i < factors_.size(); ++i)
      factors_[i] = static_cast<double>(ranks_[i]) / std::max(tree_->users(), 1u);
  }
}

std::map<std::string, Ranking::Amounts128> Ranking::delivered(const ClusterState& state,
                                                              const ClusterIndex& index) {
  std::map<std::string, Amounts128> by_user;
  const auto of = [&](const std::string& user) -> Amounts128& {
    Amounts128& amounts = by_user[user];
    amounts.resize(index.gpu_end());
    return amounts;
  };
  const HalfPower factor = since_configured();
  for (const AccountRow& row : rules_->tree) {
    if (row.user.empty()) continue;
    Amounts128& amounts = of(row.user);
    for (const auto& [name, used] : row.usage) {
      const auto column = column_of(name, index);
      if (!column) continue;
      const std::uint64_t units = units_in(*column, index);
      amounts[*column] = amounts[*column] + decayed(amount_of(capped_product(used, units)), factor);
    }
  }
  CowMap<AssociationId, AssociationUsage>::NearbyLookup usages(state.usage);
  for (const auto& [id, at] : association_nodes_) {
    const AssociationUsage* used = tree_->nodes()[at].user ? usages.find(id) : nullptr;
    if (!used) continue;
    const Time since = std::max(state.usage_since, used->since);
    Amounts128& amounts = of(rules_->tree[tree_->nodes()[at].row].user);
    for (const UsageRow& row : used->rows)
      if (const auto column = column_of(row.tres, index)) {
        Amount sum = usage_at(*used, row.tres, moment_, rules_->half_life, since);
        sum.units *= units_in(*column, index);
        amounts[*column] = amounts[*column] + sum;
      }
  }
  accruals_.each(state, moment_, [&](const Job& job, Accruals::Cached&) {
    Amounts128& amounts = of(job.spec->user);
    const Held held = held_by(job, state, index);
    const ChargedTo& cached = job.allocation->charged_to;
    const std::uint64_t counts_as =
        cached != ChargedTo{} ? cached.factor : usage_factor(state.accounting, *job.spec);
    const Association* whose = find_association(state.accounting, job.spec->account, job.spec->user,
                                                job.allocation->partition);
    const Time since = whose ? counted_from(state, whose->id) : state.usage_since;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (held.columns[i] == 0) continue;
      const Time from =
          std::max(since, i == kCpus ? without_cpus_until(job, moment_) : job.allocation->at);
      if (from >= moment_) continue;
      Amount amount = accrued(capped_product(held.columns[i], counts_as), from, moment_, moment_,
                              rules_->half_life);
      amount.units /= kPlainFactor;
      amounts[i] = amounts[i] + amount;
    }
  });
  return by_user;
}

void Ranking::rank_delivered(const ClusterState& state, const ClusterIndex& index) {
  Amounts capacity = capacity_of(index);
  capacity[kMemory] >>= 20;

  std::vector<std::pair<DominantShare, std::string>> users;
  for (const auto& [user, amounts] : delivered(state, index)) {
    Amounts used(amounts.size());
    std::transform(amounts.begin(), amounts.end(), used.begin(),
                   [](Amount amount) { return static_cast<std::int64_t>(comparable(amount)); });
    users.emplace_back(dominant_share(used, capacity, weight_of(user)), user);
  }
  // Users without usage have share 0, whether they are known or not. Users without shares come last
  // if other users have shares.
  std::sort(users.begin(), users.end(), [](const auto& a, const auto& b) {
    const int order = compare(a.first, b.first);
    return order != 0 ? order < 0 : a.second < b.second;
  });
  positions_.clear();
  DominantShare last{};
  std::uint32_t position = 0;
  for (const auto& [share, user] : users) {
    if (share.weight == 0) break;
    if (compare(last, share) != 0) ++position;
    last = share;
    positions_[user] = position;
  }
  other_position_ = tree_ ? position + 1 : 0;
}

}  // namespace ares::core::sched
