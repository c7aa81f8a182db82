// Ranking: the sort key of each queue entry under the queue policy of its partition. Kept by a
// Planner from pass to pass; equal to a new ranking for the same state, policy and time. Not
// thread-safe.
// Ages and usage are taken as of the last multiple of `calc_period`. Ranks therefore change at
// these times, and when the policy or the cluster changes, but not with every pass. Then everything
// is computed again: O(accounts + running + pending, times log).
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

// Position before or after entries with computed values, for operator priorities that are not
// comparable with these.
enum class Band : std::uint8_t { ahead, computed, behind };

// Sort key of an entry, ascending in this order of fields.
struct Rank {
  // False for a failed job that returns first, before all others of every partition.
  bool in_turn = true;
  // Tier of the partition, negated: high first.
  std::int64_t tier = 0;
  QueuePolicy policy = QueuePolicy::priority;
  Band band = Band::computed;
  // The priority, negated. With fair_tree the rank, negated; with drf on delivered usage the user's
  // position. With drf on running usage the user: the user's entries are contiguous, and
  // ServiceOrder chooses the next user.
  std::int64_t value = 0;
  std::int32_t nice = 0;
  // Time of eligibility; with multifactor, of submission.
  Time since{};
  JobKey key;
  std::uint32_t choice = 0;  // the user's order of partitions
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

class Ranking {
 public:
  // Whether all partitions sort by priority. Otherwise the rest of the class is needed.
  static bool is_plain(const Policy& policy);

  Ranking() = default;
  // The index must be that of `state`. Partitions are identified by their addresses in it.
  Ranking(const ClusterState& state, const Policy& policy, ClusterIndex& index, Time now);

  // Whether the ranking was made for that policy.
  bool is_of(const Policy& policy) const;

  // Updates from `before` to `after`. Precondition: the index is already that of `after`, and the
  // policy, partitions and accounting records are the same. Returns whether ranks changed.
  bool update(const ClusterState& before, const ClusterState& after, ClusterIndex& index, Time now);

  // The tree node whose usage and shares count for a job with that specification. The look-up costs
  // more than the rest of a rank, so callers may keep the result; it stays valid as long as the
  // ranking.
  using AccountNode = std::optional<fairness::TreeIndex>;
  AccountNode account_node_of(const JobSpec& spec) const;

  Rank rank_of(const QueueEntry& entry) const {
    return rank_of(entry, account_node_of(*entry.job->spec));
  }
  Rank rank_of(const QueueEntry& entry, AccountNode account_node) const;

  // Of the policy that the ranking was made for.
  Enforce enforce() const { return enforce_; }
  // Also of that policy: how amounts are billed.
  const Fairness& billing_rules() const {
    static const Fairness kDefaults;
    return configured_rules_.value ? *configured_rules_.value : kDefaults;
  }

  // When ranks may change with time alone.
  std::optional<Time> changes_at() const;

  // Whether entries of that rank are served user by user, by their running usage.
  bool served_by_user(const Rank& rank) const;
  bool any_served_by_user() const { return any_served_by_user_; }
  const RunningUse& running() const { return running_; }
  // Weight for dominant shares; 0 for a user without shares if others have shares.
  std::uint64_t weight_of(const std::string& user) const;

  // Fair share, from 0 to 1, of the user and account of the specification; none if no partition's
  // policy uses fair shares, or there are no shares.
  std::optional<double> fair_share_of(const JobSpec& spec) const;

  // The job's multifactor priority in the partition, with its components, whatever the partition's
  // policy. Not available for a plain ranking.
  fairness::Priority priority_of(const QueueEntry& entry) const {
    return priority_of(entry, account_node_of(*entry.job->spec));
  }

 private:
  struct Served {  // one partition
    const Partition* partition = nullptr;
    QueuePolicy policy = QueuePolicy::priority;
    std::vector<double> totals;  // by tres_weights
  };

  using Amounts128 = std::vector<fairness::Amount>;

  // Reads the tree once, as configured or from the accounting records.
  void read_tree(const ClusterState& state);
  // Computes usage and shares as of the moment.
  void measure(const ClusterState& state, ClusterIndex& index);
  void measure_scale(const ClusterState& state, ClusterIndex& index);
  void rank_accounts(const ClusterState& state, const ClusterIndex& index);
  void rank_delivered(const ClusterState& state, const ClusterIndex& index);
  std::map<std::string, Amounts128> delivered(const ClusterState& state, const ClusterIndex& index);

  fairness::Priority priority_of(const QueueEntry& entry, AccountNode account_node) const;
  // Decay factor for configured usage.
  fairness::HalfPower since_configured() const;
  Time moment_of(Time now) const;
  bool uses(QueuePolicy policy) const;
  bool by_delivered() const;
  const Served* served(const Partition* partition) const;
  QueuePolicy policy_of(const QueueEntry& entry) const;

  SharedFairness configured_rules_;
  // With the tree and QOS from the accounting records, if there are any.
  std::shared_ptr<const Fairness> rules_;
  Enforce enforce_ = Enforce::none;
  bool plain_ = true;
  bool any_served_by_user_ = false;
  bool needs_usage_ = false;
  Time moment_{};
  // Generation of the index that was measured.
  std::uint64_t generation_ = 0;

  std::vector<Served> partitions_;  // by address
  fairness::PriorityScale scale_;

  std::optional<fairness::AccountTree> tree_;
  // By tree node: billed usage as configured.
  std::vector<fairness::Amount> configured_;
  bool any_configured_ = false;
  // Tree node of each association in the accounting records; ascending.
  std::vector<StoredUse::AssociationNode> association_nodes_;
  StoredUse stored_;
  std::map<std::string, std::uint64_t> weights_;
  std::vector<std::uint32_t> ranks_;  // by tree node, for Fair Tree
  std::vector<double> factors_;       // by tree node, 0 to 1

  // By user, for drf on delivered usage.
  std::map<std::string, std::uint32_t> positions_;
  std::uint32_t other_position_ = 0;  // of users not in positions_

  // Mutable because it caches results.
  mutable AccrualLimits accrual_limits_;

  Accruals accruals_;
  RunningUse running_;
};

}  // namespace ares::core::sched
