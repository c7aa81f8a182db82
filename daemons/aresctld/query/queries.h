// Queries: answers computed from an immutable view. They do not wait for the scheduler, the engine
// or a disk. Any thread.
#pragma once

#include <vector>

#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "aresctld/node_hub.h"
#include "base/result.h"
#include "model/engine/request.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// When the job would start; refused as its submission would be. Runs a pass of the planner.
Result<api::Estimate> estimate(const View& view, const Policy& policy, const Principal& caller,
                               const Submit& submit, Time now);

// Why a record is pending. not_found: it does not exist. Runs a few passes of the planner.
Result<api::Explanation> explain(const View& view, const Policy& policy,
                                 const api::ExplainJob& request, Time now);

// In ascending order of keys. Paged (row_page.h): a request with Jobs.next as `after` continues, in
// the state at that time. not_found names a requested job, or another name, that does not exist.
// With `identity` the names of groups are looked up if they are shown.
Result<api::Jobs> list_jobs(const View& view, const Policy& policy, const api::ListJobs& request,
                            Time now, Identity* identity = nullptr);

// The jobs that a request names: what a task's own id stands for is a task. A key without a task is a job, or an array with
// all of its tasks. Ids that nothing has stay as they are. invalid_argument: an id.
Result<std::vector<JobKey>> named_jobs(const ClusterState& state, const api::ListJobs& request);

// Pages like list_jobs(). May look up the name of the user that drained a node.
Result<api::Nodes> list_nodes(const View& view, const NodeHub& hub, const Policy& policy,
                              Identity& identity, const api::ListNodes& request, Time now);

Result<api::Partitions> list_partitions(const View& view, const api::ListPartitions& filter);

// Ascending name. May look up the names of users.
Result<api::Reservations> list_reservations(const View& view, Identity& identity,
                                            const api::ListReservations& filter, Time now);

// Ascending name. not_found names a licence that is not configured.
Result<api::Licenses> list_licenses(const View& view, const Policy& policy,
                                    const api::ListLicenses& filter);

// Ascending key, paged: while `next` is set there are more.
Result<api::AccountRecords> list_account_records(const View& view, const Policy& policy,
                                                 const api::ListAccountRecords& request);

// What jobs that run use, as their nodes told last. Ascending key, paged: while `next` is set there are more. Scans all nodes.
Result<api::RunningUse> list_use(const View& view, const NodeHub& hub, const Policy& policy,
                                 const api::ListUse& request, Time now);

// Scans all accounts and all jobs.
api::Shares list_shares(const View& view, const Policy& policy, const api::ListShares& request,
                        Time now);

// Scans all accounts and all jobs.
Result<api::Priorities> list_priorities(const View& view, const Policy& policy,
                                        const api::ListPriorities& request, Time now);

// For an empty listing: not_found if a requested user does not exist. May look up names.
Status check_users(const api::ListJobs& request, Identity& identity);

// Of the whole cluster; `state` says whether the journal is reachable.
api::Pong pong(const View& view, const NodeHub& hub, const Policy& policy, const std::string& state,
               Time now);

}  // namespace ares::aresctld
