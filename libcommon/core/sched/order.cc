#include "core/sched/order.h"

#include <algorithm>

#include "core/sched/admit.h"
#include "core/sched/demand.h"

namespace ares::core::sched {
namespace {

// Calls visit(entry) for each partition of a record that the queue has, or would have.
template <class Visit>
void each_entry(const ClusterState& state, const Job& job, Visit&& visit) {
  if (!job.spec || is_terminal(job.state) || holds_resources(job.state)) return;
  if (kept_back(job)) return;
  for (std::uint32_t i = 0; i < job.spec->partitions.size(); ++i)
    visit(QueueEntry{&job, state.partitions.find(job.spec->partitions[i]), i});
}

bool before(const Queued& a, const Queued& b) {
  return a.rank < b.rank;
}

}  // namespace

// Nice is a term of its own: priority itself is what an operator set.
Rank rank_of(const QueueEntry& entry) {
  const Job& job = *entry.job;
  const std::int64_t tier = entry.partition ? entry.partition->tier : 0;
  return {-tier,          -static_cast<std::int64_t>(job.priority),
          job.spec->nice, job.eligible,
          job.key,        entry.choice};
}

void Queue::fill(const ClusterState& state) {
  entries_.clear();
  holes_ = false;
  state.pending.for_each([&](const JobKey& key, Lsn) { enter(state, key); });
  settle();
}

void Queue::enter(const ClusterState& state, const JobKey& key) {
  const Job* job = state.jobs.find(key);
  if (!job) return;
  each_entry(state, *job, [&](const QueueEntry& entry) {
    Queued queued;
    queued.rank = rank_of(entry);
    queued.entry = entry;
    if (entry.partition) queued.limit = time_limit_of(*job, *entry.partition);
    entering_.push_back(std::move(queued));
  });
}

void Queue::leave(const ClusterState& state, const Job& job) {
  each_entry(state, job, [&](const QueueEntry& entry) {
    const Rank rank = rank_of(entry);
    const auto found = std::lower_bound(
        entries_.begin(), entries_.end(), rank,
        [](const Queued& queued, const Rank& wanted) { return queued.rank < wanted; });
    if (found == entries_.end() || found->rank != rank) return;
    found->entry.job = nullptr;
    holes_ = true;
  });
}

void Queue::settle() {
  if (holes_) std::erase_if(entries_, [](const Queued& queued) { return !queued.entry.job; });
  holes_ = false;
  if (entering_.empty()) return;
  std::sort(entering_.begin(), entering_.end(), before);
  const auto middle = static_cast<std::ptrdiff_t>(entries_.size());
  const bool behind = entries_.empty() || before(entries_.back(), entering_.front());
  std::move(entering_.begin(), entering_.end(), std::back_inserter(entries_));
  if (!behind)
    std::inplace_merge(entries_.begin(), entries_.begin() + middle, entries_.end(), before);
  entering_.clear();
}

std::uint32_t jobs_ahead(const ClusterState& state, const Job& job) {
  std::uint32_t least = ~0U;
  each_entry(state, job, [&](const QueueEntry& own) {
    const Rank rank = rank_of(own);
    std::uint32_t count = 0;
    state.pending.for_each([&](const JobKey& key, Lsn) {
      const Job* other = state.jobs.find(key);
      if (!other) return;
      each_entry(state, *other, [&](const QueueEntry& entry) {
        if (entry.partition == own.partition && rank_of(entry) < rank) ++count;
      });
    });
    least = std::min(least, count);
  });
  return least == ~0U ? 0 : least;
}

}  // namespace ares::core::sched
