// The job in which arun, aattach and abcast work: the one that they are called in, or one that is named.
// Called by a command's main thread.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "cli/options/common_options.h"
#include "os/fd.h"

namespace ares::arun {

// A connection to the step host of the job, and the environment that tells of the job: NAME=value.
struct Place {
  os::Fd host;
  std::vector<std::string> environment;
};

std::vector<std::string> own_environment();

// Whether the environment is that of a job, also of aalloc.
bool is_within_job();

// `text` is what the option says: the id of one job.
Result<JobKey> only_job(const std::string& text);

// The job that this process is part of, by its socket; another one, or that of the environment of aalloc,
// from outside. `job` is empty if none is named. `program` is for messages.
Result<Place> find_job(const std::string& program, const cli::CommonOptions& common,
                       const std::string& job, bool quiet);

}  // namespace ares::arun
