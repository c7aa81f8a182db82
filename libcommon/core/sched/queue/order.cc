#include "core/sched/queue/order.h"

#include <algorithm>
#include <map>

#include "core/accounts/limits/planned_start_threshold.h"
#include "core/cluster/time_limit.h"
#include "core/fairness/drf.h"
#include "core/sched/index/demand.h"
#include "core/sched/queue/admit.h"

namespace ares::core::sched {
namespace {

// Calls visit(entry) for each partition for which the queue has an entry of the record, or would
// have one.
template <class Visit>
void each_entry(const ClusterState& state, const Job& job, Visit&& visit) {
  if (!job.spec || is_terminal(job.state) || holds_resources(job.state)) return;
  if (blocked_by_record(job)) return;
  for (std::uint32_t i = 0; i < job.spec->partitions.size(); ++i)
    visit(QueueEntry{&job, state.partitions.find(job.spec->partitions[i]), i});
}

// Entries without a job cost a walk less than removing them does, as long as there are fewer than
// one in this number.
constexpr std::size_t kEntriesToAHole = 32;

Waiting waiting_of(const Queued& queued) {
  if (!queued.waits) return {};
  return {queued.job_class, queued.limit.value_or(Seconds::max())};
}

bool before(const Queued& a, const Queued& b) {
  return a.rank < b.rank;
}

}  // namespace

std::uint64_t Queued::priority() const {
  const bool ranked =
      rank.policy == QueuePolicy::priority || rank.policy == QueuePolicy::multifactor;
  return ranked ? static_cast<std::uint64_t>(-rank.value) : entry.job->priority;
}

void Queue::fill(const ClusterState& state, const Ranking& ranking) {
  entries_.clear();
  waiting_.clear();
  holes_ = 0;
  entering_.reserve(state.pending.size());
  state.pending.for_each([&](const JobKey& key, Lsn) { enter(state, key, ranking); });
  settle(ranking);
}

void Queue::enter(const ClusterState& state, const JobKey& key, const Ranking& ranking) {
  const Job* job = state.jobs.find(key);
  if (!job || !job->spec) return;
  const Ranking::AccountNode account_node = ranking.account_node_of(*job->spec);
  each_entry(state, *job, [&](const QueueEntry& entry) {
    Queued queued;
    queued.entry = entry;
    queued.account_node = account_node;
    queued.rank = ranking.rank_of(entry, account_node);
    queued.is_static = is_static(state, ranking.enforce(), ranking.billing_rules(), entry);
    if (entry.partition) {
      queued.limit = time_limit_of(*job, *entry.partition);
      queued.floor = planned_start_threshold(state.accounting, ranking.enforce(), *job->spec,
                                             *entry.partition);
    }
    entering_.push_back(std::move(queued));
  });
}

void Queue::leave(const ClusterState& state, const Job& job, const Ranking& ranking) {
  each_entry(state, job, [&](const QueueEntry& entry) {
    const Rank rank = ranking.rank_of(entry);
    auto found = std::lower_bound(
        entries_.begin(), entries_.end(), rank,
        [](const Queued& queued, const Rank& wanted) { return queued.rank < wanted; });
    while (found != entries_.end() && found->rank == rank && !found->entry.job) ++found;
    if (found == entries_.end() || found->rank != rank) return;
    set_waiting(*found, false);
    found->entry.job = nullptr;
    found->reason.reset();
    ++holes_;
  });
}

void Queue::set_waiting(Queued& queued, bool waits) {
  // Only static entries are ever recorded as waiting.
  if (!queued.is_static) return;
  queued.waits = waits;
  waiting_[static_cast<std::size_t>(&queued - entries_.data())] = waiting_of(queued);
}

void Queue::forget_job_classes() {
  for (Queued& queued : entries_) {
    queued.job_class = nullptr;
    queued.waits = false;
  }
  waiting_.assign(entries_.size(), {});
}

void Queue::close_holes() {
  std::size_t to = 0;
  while (to < entries_.size() && entries_[to].entry.job) ++to;
  for (std::size_t from = to; from < entries_.size(); ++from) {
    if (!entries_[from].entry.job) continue;
    entries_[to] = std::move(entries_[from]);
    waiting_[to++] = waiting_[from];
  }
  entries_.resize(to);
  waiting_.resize(to);
  holes_ = 0;
}

void Queue::settle(const Ranking& ranking) {
  if (holes_ > 0 && (ranking.any_served_by_user() || holes_ * kEntriesToAHole >= entries_.size()))
    close_holes();
  if (!entering_.empty()) merge();
}

void Queue::merge() {
  if (!std::is_sorted(entering_.begin(), entering_.end(), before))
    std::sort(entering_.begin(), entering_.end(), before);
  if (entries_.empty()) {
    entries_.swap(entering_);
    waiting_.resize(entries_.size());
    return;
  }
  const auto middle = static_cast<std::ptrdiff_t>(entries_.size());
  const bool behind = before(entries_.back(), entering_.front());
  std::move(entering_.begin(), entering_.end(), std::back_inserter(entries_));
  entering_.clear();
  waiting_.resize(entries_.size());
  if (behind) return;
  std::inplace_merge(entries_.begin(), entries_.begin() + middle, entries_.end(), before);
  std::transform(entries_.begin(), entries_.end(), waiting_.begin(), waiting_of);
}

void Queue::rank_again(const Ranking& ranking) {
  close_holes();
  for (Queued& queued : entries_) queued.rank = ranking.rank_of(queued.entry, queued.account_node);
  std::sort(entries_.begin(), entries_.end(), before);
  std::transform(entries_.begin(), entries_.end(), waiting_.begin(), waiting_of);
}

struct JobsAhead::Ranks {
  Ranks(const ClusterState& state, const Policy& policy, Time now)
      : index(state), ranking(state, policy, index, now) {
    if (ranking.any_served_by_user()) place_users(state);
  }
  void place_users(const ClusterState& state);

  ClusterIndex index;
  Ranking ranking;
  std::map<UserId, std::int64_t> places;  // of users served by share
};

// The order in which waiting users would be served if nothing started.
void JobsAhead::Ranks::place_users(const ClusterState& state) {
  const Amounts capacity = capacity_of(index), nothing(index.gpu_end());
  std::map<UserId, fairness::DominantShare> shares;
  state.pending.for_each([&](const JobKey& key, Lsn) {
    const Job* job = state.jobs.find(key);
    if (!job || !job->spec) return;
    const Amounts* running = ranking.running().of(job->spec->uid);
    shares.try_emplace(job->spec->uid,
                       fairness::dominant_share(running ? *running : nothing, capacity,
                                                ranking.weight_of(job->spec->user)));
  });
  std::vector<UserId> users;
  for (const auto& [user, share] : shares) users.push_back(user);
  std::stable_sort(users.begin(), users.end(), [&](UserId a, UserId b) {
    return fairness::compare(shares.at(a), shares.at(b)) < 0;
  });
  for (const UserId user : users) places.emplace(user, static_cast<std::int64_t>(places.size()));
}

JobsAhead::JobsAhead(const ClusterState& state, const Policy& policy, Time now)
    : state_(state), policy_(policy), now_(now) {}
JobsAhead::~JobsAhead() = default;

std::uint32_t JobsAhead::of(const Job& job) {
  static const Ranking plain;
  const bool is_plain = Ranking::is_plain(policy_);
  if (!is_plain && !ranks_) ranks_ = std::make_unique<Ranks>(state_, policy_, now_);
  const Ranking& ranking = is_plain ? plain : ranks_->ranking;
  const auto rank_now = [&](const QueueEntry& entry) {
    Rank rank = ranking.rank_of(entry);
    if (ranking.served_by_user(rank)) rank.value = ranks_->places.at(entry.job->spec->uid);
    return rank;
  };
  std::uint32_t least = ~0U;
  each_entry(state_, job, [&](const QueueEntry& own) {
    const Rank rank = rank_now(own);
    std::uint32_t count = 0;
    state_.pending.for_each([&](const JobKey& key, Lsn) {
      const Job* other = state_.jobs.find(key);
      if (!other) return;
      each_entry(state_, *other, [&](const QueueEntry& entry) {
        if (entry.partition == own.partition && rank_now(entry) < rank) ++count;
      });
    });
    least = std::min(least, count);
  });
  return least == ~0U ? 0 : least;
}

}  // namespace ares::core::sched
