// Waits for the end of jobs, and says with which exit code commands end then. Used by one thread.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "cli/output/colour.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::cli {

// The highest exit code of ended jobs; 128 + signal for a script that was ended by a signal; 1 for a job
// that failed for another reason.
int exit_code_of(const api::Jobs& jobs);

// The same of what accounting knows of jobs. None if one of them has not ended.
std::optional<int> exit_code_of(const api::AccountingRows& rows);

// Returns once the task, or every task of the job, has ended: exit_code_of() them. The controller answers as
// soon as that is so. A job that it no longer knows is looked up in accounting; not_found if it is not there either.
// With `progress` a terminal shows meanwhile how far the job is, and its state in a colour if `colour` says so.
Result<int> wait_for_end(rpc::Client& client, const JobKey& job, bool progress,
                         ColourWhen colour = ColourWhen::automatic);

}  // namespace ares::cli
