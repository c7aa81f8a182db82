// Jobs named on the command line that the controller has forgotten: their rows come from
// accounting. Owned by aqueue's main thread.
#pragma once

#include <functional>
#include <string>

#include "aqueue/report.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

// Whether the controller would list the job, which has ended, with this filter.
bool passes(const api::Job& job, const api::ListJobs& filter);

// Adds to the report what accounting has of the jobs that the first page of the answer misses. What has to be said about them on standard
// error is appended to `notes`, a line each: ids that accounting does not have either and, if `explain_hidden`, jobs that the filter
// hides. not_found if none of the jobs named exists.
Status add_past_jobs(const std::function<Result<api::Response>(const api::Request&)>& call,
                     const api::ListJobs& filter, const api::Jobs& page, bool explain_hidden,
                     Report& report, std::string& notes);

}  // namespace ares::aqueue
