// Waits for a job's end (asub --wait). Owned by asub's main thread.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::asub {

// The exit status of asub for ended jobs: the highest exit code; 128 + signal for a script that was
// ended by a signal; 1 for a job that failed for another reason.
int exit_code_of(const api::Jobs& jobs);

// Returns once every task of the job has ended.
Result<int> wait_for_end(rpc::Client& client, const JobKey& job);

}  // namespace ares::asub
