// Queries: answers made from an immutable view. They never wait for scheduling, the engine or a
// disk. Any thread.
#pragma once

#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "aresctld/node_hub.h"
#include "base/result.h"
#include "model/engine/request.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// When the job would start; refused as its submission would be. Costs a pass of the planner.
Result<api::Estimate> estimate(const View& view, const Policy& policy, const Principal& caller,
                               const Submit& submit, Time now);

// Why one record waits, in full. not_found: there is none of that key. Costs a few passes of the planner.
Result<api::Explanation> explain(const View& view, const Policy& policy,
                                 const api::ExplainJob& request, Time now);

// In ascending order of keys. A page (row_page.h): while Jobs.next is set, asking again with it as `after` goes on behind
// that place, in the state of then. not_found names the first job asked for that does not exist, or a name that nothing has.
Result<api::Jobs> list_jobs(const View& view, const Policy& policy, const api::ListJobs& request,
                            Time now);

// Pages as list_jobs. May ask the name service who drained a node.
Result<api::Nodes> list_nodes(const View& view, const NodeHub& hub, const Policy& policy,
                              Identity& identity, const api::ListNodes& request, Time now);

Result<api::Partitions> list_partitions(const View& view, const api::ListPartitions& filter);

// Ascending name. May ask the name service for their users.
Result<api::Reservations> list_reservations(const View& view, Identity& identity,
                                            const api::ListReservations& filter, Time now);

// Ascending key, a page at a time: while `next` is set there are more.
Result<api::AccountRecords> list_account_records(const View& view, const Policy& policy,
                                                 const api::ListAccountRecords& request);

// Costs a look at all accounts and all jobs in memory.
api::Shares list_shares(const View& view, const Policy& policy, const api::ListShares& request,
                        Time now);

// Costs a look at all accounts and all jobs.
Result<api::Priorities> list_priorities(const View& view, const Policy& policy,
                                        const api::ListPriorities& request, Time now);

// Nothing was listed: not_found if that is because a user asked for does not exist. May ask the name service.
Status check_users(const api::ListJobs& request, Identity& identity);

// Of the cluster as a whole; `state` says whether the journal is reachable.
api::Pong pong(const View& view, const NodeHub& hub, const Policy& policy, const std::string& state,
               Time now);

}  // namespace ares::aresctld
