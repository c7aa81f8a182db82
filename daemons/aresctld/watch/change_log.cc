#include "aresctld/watch/change_log.h"

#include <utility>

namespace ares::aresctld {

void ChangeLog::add(const View& before, const View& after, const Visit& visit) {
  using Jobs = CowMap<JobKey, Job>;
  Jobs::diff(before.state->jobs, after.state->jobs,
             [&](const JobKey& key, const Job* was, const Job* is) {
               if (visit) visit(was, is);
               changes_.push_back({key, was ? before.state->jobs.share(key) : nullptr, true});
             });
  if (before.pending != after.pending)
    PendingInfos::diff(*before.pending, *after.pending,
                       [&](const JobKey& key, const PendingInfo* was, const PendingInfo* is) {
                         JobChange change{key, nullptr};
                         change.reason =
                             !was || !is || was->reason != is->reason || was->limit != is->limit;
                         change.start = !was || !is || was->expected_start != is->expected_start ||
                                        was->expected_nodes != is->expected_nodes;
                         if (change.reason || change.start) changes_.push_back(std::move(change));
                       });
  if (changes_.size() > most_) drop_before(end() - most_);
}

void ChangeLog::drop_before(std::uint64_t position) {
  for (; first_ < position && !changes_.empty(); ++first_) changes_.pop_front();
}

}  // namespace ares::aresctld
