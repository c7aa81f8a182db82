// Indexes of ClusterState: the entries of a record and their updates. All are functions of the
// records. Pure; called by the engine thread or the only owner of a state that is being loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares {

// apply() maintains the indexes. Code that loads records calls rebuild_indexes() once.

// Updates `current_usage` for a changed record; null: it did not exist before, or is removed.
void count_current_usage(ClusterState& state, const Job* before, const Job* after);
std::vector<JobKey> prerequisites(
    const Job& job);  // its prerequisites in the index `dependents`; ascending, each once
JobKey prerequisite(const Job& job, const Dependency& dependency);  // of one dependency
bool has_dependents(const ClusterState& state, JobId target);
const std::vector<LicenseRequest>& licenses_held(const Job& job);
inline bool has_preemption_claim(const Job& job) {
  return job.preemption_claim && job.state == JobState::pending;  // index `preemption_claims`
}
inline bool is_resumable(const Job& job) {  // index `resumable`
  return job.state == JobState::suspended && job.allocation && job.allocation->suspension &&
         job.allocation->suspension->preempted_by;
}
inline bool is_watched(const Node& node) {  // index `watched`
  return node.guard.retry_at || node.reboot;
}
inline bool is_named(const Job& job) {
  return job.key.task.is_none() && !is_terminal(job.state);  // index `names`
}
// Its key in the index `gangs`; none unless it is a gang member that has not ended.
std::optional<GangMember> gang_member(const Job& job);
// The first job of the same user and name that has not ended; null if there is none.
const Job* first_of_name(const ClusterState& state, const JobSpec& spec);
// Add and remove a request together with its index entries.
void put_request(ClusterState& state, Request request);
void drop_request(ClusterState& state, const RequestKey& key);
void rebuild_indexes(ClusterState& state);
void put_partition(ClusterState& state, Partition partition);  // and its entries in `members`
// Key of ClusterState::names.
std::uint64_t name_hash(const JobSpec& spec);
// Approximate memory use of a request, for RequestLoad.
std::uint64_t remembered_bytes(const Request& request);

}  // namespace ares
