// What a job takes along from the shell that submits it: environment, limits, umask, machine, time zone.
// Owned by asub's main thread; environment_for is pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::asub {

// The variables that go with the job, NUL-terminated each, by the rules of --export. `all` are NAME=VALUE.
// invalid_argument for a malformed list.
Result<std::string> environment_for(const std::string& export_list,
                                    const std::vector<std::string>& all);

std::vector<std::string> process_environment();

// Limits, umask, host and zone of this process.
void add_process_context(api::JobSpec& spec);

}  // namespace ares::asub
