#include "aresctld/watch/change_log.h"

#include <utility>

namespace ares::aresctld {
namespace {

// What is shown of a node for whose word a job waits.
bool is_heard_alike(const Node& a, const Node& b) {
  return a.contact == b.contact && a.machine_gone == b.machine_gone &&
         a.silent_since == b.silent_since && a.guard.fault == b.guard.fault;
}

}  // namespace

void ChangeLog::add(const View& before, const View& after, const Visit& visit) {
  using Jobs = CowMap<JobKey, Job>;
  Jobs::diff(before.state->jobs, after.state->jobs,
             [&](const JobKey& key, const Job* was, const Job* is) {
               if (visit) visit(was, is);
               changes_.push_back({key, was ? before.state->jobs.share(key) : nullptr, true});
             });
  using Nodes = CowMap<NodeId, Node>;
  Nodes::diff(before.state->nodes, after.state->nodes,
              [&](const NodeId&, const Node* was, const Node* is) {
                if (!is || (was && is_heard_alike(*was, *is))) return;
                for (const Charge& charge : is->charges) {
                  JobChange change{charge.attempt.job, nullptr};
                  change.contact = true;
                  changes_.push_back(std::move(change));
                }
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
