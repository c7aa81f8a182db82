// The indexes of ClusterState: where a record belongs in them, and how they are kept. All of them are functions of the records.
// Pure; the engine thread, or the only owner of a state that is being loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares {

// apply() keeps the indexes; what loads records calls rebuild_indexes() once.

// Brings `holdings` from what one record counted for to what it does now; null: there was, or is, none.
void count_current_usage(ClusterState& state, const Job* before, const Job* after);
std::vector<JobKey> prerequisites(
    const Job& job);  // under which it belongs into `dependents`; ascending
JobKey prerequisite(const Job& job, const Dependency& dependency);  // likewise
bool has_dependents(const ClusterState& state, JobId target);
const std::vector<LicenseRequest>& licenses_held(const Job& job);
inline bool has_preemption_claim(const Job& job) {
  return job.preemption_claim && job.state == JobState::pending;  // belongs into `earmarked`
}
inline bool is_resumable(const Job& job) {  // belongs into `resumable`
  return job.state == JobState::suspended && job.allocation && job.allocation->suspension &&
         job.allocation->suspension->preempted_by;
}
inline bool is_named(const Job& job) {
  return job.key.task.is_none() && !is_terminal(job.state);  // belongs into `names`
}
// Where it belongs into `gangs`: a member that has not ended.
std::optional<GangMember> gang_member(const Job& job);
// The first job that has not ended of the same user and name; null if there is none.
const Job* first_of_name(const ClusterState& state, const JobSpec& spec);
// Puts a request, or takes it out; keeps the indexes of requests in step.
void put_request(ClusterState& state, Request request);
void drop_request(ClusterState& state, const RequestKey& key);
void rebuild_indexes(ClusterState& state);
void put_partition(ClusterState& state, Partition partition);  // with its members
// Key of ClusterState::names.
std::uint64_t name_hash(const JobSpec& spec);
// Of RequestLoad: about what the request takes in memory.
std::uint64_t remembered_bytes(const Request& request);

}  // namespace ares
