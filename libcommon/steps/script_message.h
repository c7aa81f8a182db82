// Messages of users for the standard error of a batch script: what they may be, and the line that is written. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::steps {

inline constexpr std::size_t kLongestMessage = 1024;  // bytes

// invalid_argument: it is empty, too long, or not one line of text that a terminal only shows.
Status check_message(std::string_view text);

// With the end of the line.
std::string message_line(std::string_view user, std::string_view text);

}  // namespace ares::steps
