// Answers what a client asks of the output of a job.
#pragma once

#include "aresctld/engine/view.h"
#include "base/result.h"
#include "model/engine/request.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"
#include "store/output/job_output.h"

namespace ares::aresctld {

// Which job the request is about: one that the controller knows, or a number to look up. invalid_argument: an array.
Result<JobKey> job_of_output(const View& view, const Policy& policy, const api::ReadOutput& request,
                             Time now);

// May block on the database. not_found: nothing is stored, or there is no such job; permission_denied.
Result<api::Output> read_output(const View& view, const Policy& policy, const Principal& caller,
                                JobKey job, const api::ReadOutput& request,
                                store::OutputReader& stored, Time now);

}  // namespace ares::aresctld
