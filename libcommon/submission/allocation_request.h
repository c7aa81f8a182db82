// The job of an interactive allocation (aalloc, and arun outside of a job): asub's options without those
// about a script, and the request that submits it. Owned by the command's main thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/options/options.h"
#include "submission/submission.h"

namespace ares::submission {

// The options, bound to `target`, which must outlive the table.
cli::OptionTable allocation_options(Submission& target, Time now);

// -I, --immediate[=SECONDS].
cli::Option immediate_option(std::optional<Seconds>& most);

// Submits the job when its options are applied. `name` is the job's without --job-name. `environment` has
// NAME=value, each with a NUL behind it.
Result<api::Request> allocation_request(Submission& target, const std::string& name,
                                        std::string script, std::string environment);

}  // namespace ares::submission
