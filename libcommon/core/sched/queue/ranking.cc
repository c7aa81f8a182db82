#include "core/sched/queue/ranking.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/accounts/requested.h"
#include "core/accounts/usage/shares.h"
#include "core/cluster/time_limit.h"
#include "core/sched/index/demand.h"

namespace ares::core::sched {
namespace {

Band band_of(const Job& job) {
  if (!job.priority_set) return Band::computed;
  return job.priority > 0 ? Band::ahead : Band::behind;
}

}  // namespace

bool Ranking::is_plain(const Policy& policy) {
  const auto& rules = policy.fairness.value;
  if (!rules) return true;
  const auto plain = [](QueuePolicy named) { return named == QueuePolicy::priority; };
  return plain(rules->policy) &&
         std::all_of(rules->partitions.begin(), rules->partitions.end(),
                     [&](const auto& named) { return plain(named.second); });
}

Ranking::Ranking(const ClusterState& state, const Policy& policy, ClusterIndex& index, Time now)
    : configured_rules_(policy.fairness),
      rules_(with_records(configured_rules_.value, state.accounting)),
      enforce_(policy.accounting.enforce),
      plain_(is_plain(policy)) {
  if (plain_) return;
  accrual_limits_ = AccrualLimits(state.accounting, state.partitions, policy);
  state.partitions.for_each([&](const std::string& name, const Partition& partition) {
    partitions_.push_back({&partition, rules_->policy_of(name), {}});
  });
  std::sort(partitions_.begin(), partitions_.end(), [](const Served& a, const Served& b) {
    return std::less<>()(a.partition, b.partition);
  });
  any_served_by_user_ = uses(QueuePolicy::drf) && !by_delivered();
  needs_usage_ = uses(QueuePolicy::multifactor) || uses(QueuePolicy::fair_tree) || by_delivered();
  if (any_served_by_user_)
    state.nodes.for_each([&](NodeId, const Node& node) { running_.add(node, index); });
  read_tree(state);
  moment_ = moment_of(now);
  if (!needs_usage_) return;
  accruals_.fill(state, moment_);
  measure(state, index);
}

bool Ranking::is_of(const Policy& policy) const {
  return configured_rules_ == policy.fairness && enforce_ == policy.accounting.enforce;
}

bool Ranking::update(const ClusterState& before, const ClusterState& after, ClusterIndex& index,
                     Time now) {
  if (plain_) return false;
  const Time moment = moment_of(now);
  bool changed = moment != moment_ || index.generation() != generation_;
  CowMap<NodeId, Node>::diff(before.nodes, after.nodes,
                             [&](const NodeId&, const Node* was, const Node* is) {
                               if (any_served_by_user_ && was) running_.remove(*was, index);
                               if (any_served_by_user_ && is) running_.add(*is, index);
                               changed = changed || !was || !is || was->inventory != is->inventory;
                             });
  if (!needs_usage_) return false;
  changed = stored_.update(before, after, moment_, rules_->half_life) || changed;
  changed = accruals_.update(before, after, moment_) || changed;
  if (!changed) return false;
  if (moment < moment_)
    accruals_.fill(after, moment);
  else
    accruals_.move_on(after, moment);
  moment_ = moment;
  measure(after, index);
  return true;
}

Time Ranking::moment_of(Time now) const {
  const Duration period = std::max<Duration>(rules_->calc_period, Seconds(1));
  return Time(now.time_since_epoch() / period * period);
}

std::optional<Time> Ranking::changes_at() const {
  if (!needs_usage_) return std::nullopt;
  return moment_ + std::max(rules_->calc_period, Seconds(1));
}

bool Ranking::uses(QueuePolicy policy) const {
  return std::any_of(partitions_.begin(), partitions_.end(),
                     [&](const Served& served) { return served.policy == policy; });
}

bool Ranking::by_delivered() const {
  return uses(QueuePolicy::drf) && rules_->drf_usage == DrfUsage::delivered;
}

const Ranking::Served* Ranking::served(const Partition* partition) const {
  const auto found = std::lower_bound(partitions_.begin(), partitions_.end(), partition,
                                      [](const Served& served, const Partition* wanted) {
                                        return std::less<>()(served.partition, wanted);
                                      });
  return found == partitions_.end() || found->partition != partition ? nullptr : &*found;
}

QueuePolicy Ranking::policy_of(const QueueEntry& entry) const {
  const Served* found = plain_ ? nullptr : served(entry.partition);
  return found ? found->policy : QueuePolicy::priority;
}

Ranking::AccountNode Ranking::account_node_of(const JobSpec& spec) const {
  if (!tree_) return std::nullopt;
  // The root has no name in the tree.
  if (spec.account == kRootAccount) return tree_->find_in({}, spec.user);
  return tree_->find(spec.account, spec.user);
}

std::optional<double> Ranking::fair_share_of(const JobSpec& spec) const {
  const AccountNode at = account_node_of(spec);
  if (!at || ranks_.empty()) return std::nullopt;
  if (!factors_.empty()) return factors_[*at];
  return static_cast<double>(ranks_[*at]) / std::max(tree_->users(), 1u);
}

bool Ranking::served_by_user(const Rank& rank) const {
  return any_served_by_user_ && rank.policy == QueuePolicy::drf && rank.band == Band::computed;
}

std::uint64_t Ranking::weight_of(const std::string& user) const {
  if (!tree_) return 1;
  const auto found = weights_.find(user);
  return found == weights_.end() ? 0 : found->second;
}

// Nice is a separate field, because priority is exactly the value that an operator set.
Rank Ranking::rank_of(const QueueEntry& entry, AccountNode account_node) const {
  const Job& job = *entry.job;
  const QueuePolicy policy = policy_of(entry);
  Band band = band_of(job);
  std::int64_t value = 0;
  std::int32_t nice = job.spec->nice;
  Time since = job.eligible;
  switch (policy) {
    case QueuePolicy::priority:
      band = Band::computed;
      value = job.priority;
      break;
    case QueuePolicy::fifo: nice = 0; break;
    case QueuePolicy::multifactor:
      value = band == Band::computed ? priority_of(entry, account_node).value : job.priority;
      band = Band::computed;
      nice = 0;
      since = job.submitted;
      break;
    case QueuePolicy::fair_tree:
      if (account_node) value = ranks_[*account_node];
      break;
    case QueuePolicy::drf:
      if (any_served_by_user_) {
        value = -std::int64_t{job.spec->uid.value()};
      } else {
        const auto found = positions_.find(job.spec->user);
        value = -std::int64_t{found == positions_.end() ? other_position_ : found->second};
      }
      break;
  }
  if (band != Band::computed) value = job.priority;
  const std::int64_t tier = entry.partition ? entry.partition->tier : 0;
  // Entries that are served user by user are computed ones.
  if (job.expedited && policy == QueuePolicy::drf) band = Band::ahead;
  return {!job.expedited, -tier, policy, band, -value, nice, since, job.key, entry.choice};
}

fairness::Priority Ranking::priority_of(const QueueEntry& entry, AccountNode account_node) const {
  const Job& job = *entry.job;
  const JobSpec& spec = *job.spec;
  fairness::PriorityInput in;
  // The age of a job that has started, for display, is that of its start.
  const Time until = job.allocation && job.started ? std::min(moment_, *job.started) : moment_;
  if (rules_->flags.accrue_always)
    in.age = until - job.submitted;
  else
    in.age = until - accruing_since(job, accrual_limits_).value_or(until);
  in.nodes = spec.min_nodes;
  in.cpus = requested(spec, entry.partition, "cpu");
  in.nice = spec.nice;
  if (account_node) {
    in.fairshare = factors_[*account_node];
    in.association = rules_->tree[tree_->nodes()[*account_node].row].priority;
  }
  if (const auto qos = rules_->qos.find(spec.qos); qos != rules_->qos.end()) in.qos = qos->second;
  if (const Served* there = served(entry.partition)) {
    in.partition = there->partition->priority;
    in.time_limit = time_limit_of(job, *there->partition).value_or(Seconds(0));
    auto total = there->totals.begin();
    for (const auto& [name, weight] : rules_->tres_weights)
      in.tres.push_back(
          {static_cast<double>(requested(spec, there->partition, name)), *total++, weight});
  }
  return fairness::multifactor_priority(in, scale_, *rules_);
}

}  // namespace ares::core::sched
