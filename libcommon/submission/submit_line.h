// The command line of a submission as accounting keeps it: a shell would read it as the same words.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ares::submission {

inline constexpr std::size_t kLongestSubmitLine = 4096;

// The program and its words, each quoted where a shell needs it, cut to kLongestSubmitLine bytes. Control characters and bytes that are
// not UTF-8 are written as escapes of $'...'.
std::string submit_line(const std::string& program, const std::vector<std::string>& words);

}  // namespace ares::submission
