// Queries: answers made from an immutable view. They never wait for scheduling, the engine or a
// disk. Any thread.
#pragma once

#include "aresctld/node_hub.h"
#include "aresctld/view.h"
#include "base/result.h"
#include "model/policy.h"
#include "model/request.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// not_found names the first job asked for that does not exist.
// When the job would start; refused as its submission would be. Costs a pass of the planner.
Result<api::Estimate> estimate(const View& view, const Policy& policy, const Principal& who,
                               const Submit& submit, Time now);
Result<api::Jobs> list_jobs(const View& view, const api::ListJobs& filter, Time now);

Result<api::Nodes> list_nodes(const View& view, const NodeHub& hub, const Policy& policy,
                              const api::ListNodes& filter, Time now);

Result<api::Partitions> list_partitions(const View& view, const api::ListPartitions& filter);

// Of the cluster as a whole; `state` says whether the journal is reachable.
api::Pong pong(const View& view, const NodeHub& hub, const Policy& policy, const std::string& state,
               Time now);

}  // namespace ares::aresctld
