// The batch script: found, read and checked before the job is sent. Owned by the command's main thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::submission {

struct Script {
  std::string content;
  std::string path;  // Absolute; "" if it came from standard input or --wrap.
  std::string name;  // Name for messages: as typed, or "standard input".
};

// The maximum size of a message. The controller checks the site's own limit.
inline constexpr std::size_t kMaxScriptBytes = 6 << 20;

// A name with a slash is a path. Any other name is searched in the current folder and then in PATH.
// "" and "-" are standard input. Returns not_found, permission_denied or invalid_argument, with the
// file and the reason.
Result<Script> read_script(const std::string& operand, const std::string& directory,
                           const std::string& search_path);

// A script that runs one command line with sh.
Script wrap_command(const std::string& command);

// Returns invalid_argument unless the script is text that begins with #! and has Unix line ends.
Status check_script(const Script& script);

// A warning if a line of a shell script begins with srun, which neither the script defines nor `search_path`
// has; else "".
std::string warn_of_srun(const Script& script, const std::string& search_path);

}  // namespace ares::submission
