// What a program said at last, for a message. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ares {

// The last line of its output that is not empty, printable, in at most `most` bytes.
std::string last_line(std::string_view output, std::size_t most = 200);

}  // namespace ares
