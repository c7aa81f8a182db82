// The batch script: found, read and looked at before anything is sent.
// Owned by asub's main thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::asub {

struct Script {
  std::string content;
  std::string path;  // absolute; "" when it came from standard input or --wrap
  std::string name;  // for messages: as typed, or "standard input"
};

// As large as a message may be; the site's own bound is the controller's to check.
inline constexpr std::size_t kMaxScriptBytes = 6 << 20;

// A name with a slash is taken as it is; another is looked for here and then in PATH. "" and "-" are standard input.
// not_found, permission_denied or invalid_argument, naming the file and why.
Result<Script> read_script(const std::string& operand, const std::string& directory,
                           const std::string& search_path);

// A script that runs one command line under sh.
Script wrap_command(const std::string& command);

// invalid_argument unless it is text that begins with #! and has Unix line ends.
Status check_script(const Script& script);

}  // namespace ares::asub
