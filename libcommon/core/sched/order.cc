#include "core/sched/order.h"

#include <algorithm>
#include <tuple>

namespace ares::core::sched {
namespace {

// What an entry sorts by, ascending. Nice is a term of its own: priority itself is what an operator
// set.
auto rank(const QueueEntry& entry) {
  const Job& job = *entry.job;
  const std::int64_t tier = entry.partition ? entry.partition->tier : 0;
  return std::tuple(-tier, -static_cast<std::int64_t>(job.priority), job.spec->nice, job.eligible,
                    job.key, entry.choice);
}

}  // namespace

std::vector<QueueEntry> order(const ClusterState& state) {
  struct Ranked {
    decltype(rank(QueueEntry{})) by;
    QueueEntry entry;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(state.pending.size());
  state.pending.for_each([&](const JobKey& key, Lsn) {
    const Job* job = state.jobs.find(key);
    if (!job || !job->spec || is_terminal(job->state) || holds_resources(job->state)) return;
    for (std::uint32_t i = 0; i < job->spec->partitions.size(); ++i) {
      const QueueEntry entry{job, state.partitions.find(job->spec->partitions[i]), i};
      ranked.push_back({rank(entry), entry});
    }
  });
  std::sort(ranked.begin(), ranked.end(),
            [](const Ranked& a, const Ranked& b) { return a.by < b.by; });
  std::vector<QueueEntry> queue;
  queue.reserve(ranked.size());
  for (const Ranked& r : ranked) queue.push_back(r.entry);
  return queue;
}

}  // namespace ares::core::sched
