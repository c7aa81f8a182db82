// What a job inherits from the submitting shell: environment, limits, umask, host, time zone. Owned
// by the command's main thread; environment_for is pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::submission {

// The job's variables, each NUL-terminated, by the rules of --export. `all` are NAME=VALUE strings.
// Returns invalid_argument for a malformed list.
Result<std::string> environment_for(const std::string& export_list,
                                    const std::vector<std::string>& all);

// The same of the variables in a file, each followed by a zero byte. Not_found: it cannot be read;
// invalid_argument: it is larger than 16 MiB or holds something else.
Result<std::string> environment_from_file(const std::string& path, const std::string& export_list);

std::vector<std::string> process_environment();

// Adds limits, umask, host and time zone of this process.
void add_process_context(api::JobSpec& spec);

}  // namespace ares::submission
