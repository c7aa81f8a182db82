// How a command reaches the step host of a job: within the job by its socket, from elsewhere with a ticket
// of the controller (steps/ticket.h). Called by a command's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::step_client {

// From a process of the job on one of its nodes. `directory` is that of the attempt.
Result<os::Fd> connect_within(const std::string& directory);

// permission_denied: the job is another user's; failed_precondition: it does not run.
// With an `interrupt` of WaitLimit one try is made, which ends when that is readable.
Result<api::StepTicket> ask_ticket(rpc::Client& client, const JobKey& job, int interrupt = -1);

// With a ticket. unavailable: the node does not answer.
Result<os::Fd> connect_with(const api::StepTicket& ticket, int interrupt = -1);

// Both. Tries again for some seconds while the node daemon is away.
Result<os::Fd> reach(rpc::Client& client, const JobKey& job, int interrupt = -1);

// The variables of the job, for a program outside of it: NAME=value. Before anything else is asked.
Result<std::vector<std::string>> describe(int host, int interrupt = -1);

// Gives a step that runs another time limit, 0 for none. failed_precondition: it does not run, or its node is of a release
// that cannot do this.
Status limit_step(int host, std::uint32_t step, Seconds limit);

// The variables with those of the job in place of others of the same names.
std::vector<std::string> merged(std::vector<std::string> variables,
                                const std::vector<std::string>& of_job);

}  // namespace ares::step_client
