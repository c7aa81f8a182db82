// Ranking: what each entry of the queue sorts by, under the queue policy of its partition. Kept by a Planner from pass to pass,
// and what a new one would be for the same state, policy and time. Not thread-safe.
//
// Ages and usage are looked at as of the last multiple of `calc_period`, so that ranks change then, when the policy does or the
// cluster itself, and not with every pass. Then all of it is made anew: O(accounts + running + pending, times log).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/accounts/limits/accrual_limits.h"
#include "core/fairness/decay.h"
#include "core/fairness/priority.h"
#include "core/fairness/tree.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/queue/accruals.h"
#include "core/sched/queue/queue_entry.h"
#include "core/sched/queue/running_use.h"
#include "core/sched/queue/stored_use.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

// Before or behind those whose place is computed, where an operator's priority is no number among theirs.
enum class Band : std::uint8_t { ahead, computed, behind };

// What an entry sorts by, ascending in this order of fields.
struct Rank {
  std::int64_t tier = 0;  // of the partition, negated: high first
  QueuePolicy policy = QueuePolicy::priority;
  Band band = Band::computed;
  // The priority, negated. With fair_tree the rank, negated; with drf on delivered usage the user's position. With drf on running
  // usage the user: his entries lie together, and Turns says who is next.
  std::int64_t value = 0;
  std::int32_t nice = 0;
  Time since{};  // eligible, with multifactor submitted
  JobKey key;
  std::uint32_t choice = 0;  // the user's order of partitions
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

class Ranking {
 public:
  // All by priority. Others need the rest of this.
  static bool is_plain(const Policy& policy);

  Ranking() = default;
  // The index must be that of `state`. Partitions are known by their addresses in it.
  Ranking(const ClusterState& state, const Policy& policy, ClusterIndex& index, Time now);

  // Whether that is the policy it was made for.
  bool is_of(const Policy& policy) const;

  // From what it was for `before`, with the index already that of `after`, and the policy, the partitions and the records of
  // accounting the same. True: ranks changed.
  bool update(const ClusterState& before, const ClusterState& after, ClusterIndex& index, Time now);

  // Whose usage and shares count for a job like that. Finding it costs more than all the rest of a rank, so it may be kept: it
  // stays the same as long as the ranking does.
  using AccountNode = std::optional<fairness::TreeIndex>;
  AccountNode account_node_of(const JobSpec& spec) const;

  Rank rank_of(const QueueEntry& entry) const {
    return rank_of(entry, account_node_of(*entry.job->spec));
  }
  Rank rank_of(const QueueEntry& entry, AccountNode account_node) const;

  Enforce enforce() const { return enforce_; }  // of the policy it was made for
  const Fairness& billing_rules() const {       // likewise: by which amounts are billed
    static const Fairness kDefaults;
    return configured_rules_.value ? *configured_rules_.value : kDefaults;
  }

  // When time alone may change ranks.
  std::optional<Time> changes_at() const;

  // Whether entries of that rank are served user by user, by what they have running.
  bool served_by_user(const Rank& rank) const;
  bool any_served_by_user() const { return any_served_by_user_; }
  const RunningUse& running() const { return running_; }
  // For dominant shares; 0 for who has no shares, though others do.
  std::uint64_t weight_of(const std::string& user) const;

  // Of whoever runs jobs like that, from 0 to 1; none where no partition's policy knows fair shares, or nobody has any.
  std::optional<double> fair_share_of(const JobSpec& spec) const;

  // A job's multifactor priority there, whatever the partition's policy, and what it consists of. Not of a plain ranking.
  fairness::Priority priority_of(const QueueEntry& entry) const {
    return priority_of(entry, account_node_of(*entry.job->spec));
  }

 private:
  struct Served {  // a partition
    const Partition* partition = nullptr;
    QueuePolicy policy = QueuePolicy::priority;
    std::vector<double> totals;  // by tres_weights
  };

  using Amounts128 = std::vector<fairness::Amount>;

  // Of the tree as configured, or as the records have it, once.
  void read_tree(const ClusterState& state);
  // As of the moment.
  void measure(const ClusterState& state, ClusterIndex& index);
  void measure_scale(const ClusterState& state, ClusterIndex& index);
  void rank_accounts(const ClusterState& state, const ClusterIndex& index);
  void rank_delivered(const ClusterState& state, const ClusterIndex& index);
  std::map<std::string, Amounts128> delivered(const ClusterState& state, const ClusterIndex& index);

  fairness::Priority priority_of(const QueueEntry& entry, AccountNode account_node) const;
  fairness::HalfPower since_configured() const;  // what is left of configured usage
  Time moment_of(Time now) const;
  bool uses(QueuePolicy policy) const;
  bool by_delivered() const;
  const Served* served(const Partition* partition) const;
  QueuePolicy policy_of(const QueueEntry& entry) const;

  SharedFairness configured_rules_;
  std::shared_ptr<const Fairness>
      rules_;  // with the tree and the QOS of the records, where there are any
  Enforce enforce_ = Enforce::none;
  bool plain_ = true;
  bool any_served_by_user_ = false;
  bool needs_usage_ = false;
  Time moment_{};
  std::uint64_t generation_ = 0;  // of the index that was measured

  std::vector<Served> partitions_;  // by address
  fairness::PriorityScale scale_;

  std::optional<fairness::AccountTree> tree_;
  std::vector<fairness::Amount> configured_;  // by tree node: billed usage, as configured
  bool any_configured_ = false;
  std::vector<StoredUse::AssociationNode>
      association_nodes_;  // of the records: whose usage is whose; ascending
  StoredUse stored_;
  std::map<std::string, std::uint64_t> weights_;
  std::vector<std::uint32_t> ranks_;  // by tree node, of Fair Tree
  std::vector<double> factors_;       // by tree node, 0 to 1

  std::map<std::string, std::uint32_t> positions_;  // by user, of drf on delivered usage
  std::uint32_t other_position_ = 0;                // of users not among them

  mutable AccrualLimits accrual_limits_;  // it remembers whom it was asked about

  Accruals accruals_;
  RunningUse running_;
};

}  // namespace ares::core::sched
