// --iterate: prints a listing repeatedly. Called on a command's main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace ares::cli {

// If `seconds` is 0, calls `show` once and returns its exit status or error. Otherwise calls it
// without end at this interval, after a line with the date; errors are printed and do not stop the
// loop.
Result<int> repeat(std::string_view program, std::int64_t seconds,
                   const std::function<Status()>& show);

}  // namespace ares::cli
