// --iterate: a listing printed again and again.
// Called on a command's main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace ares::cli {

// Calls `show` once if `seconds` is 0. Otherwise for ever, every so many seconds, under a line with the date; an error is told and
// the next round goes on. The exit status, or the error of the only call.
Result<int> repeat(std::string_view program, std::int64_t seconds,
                   const std::function<Status()>& show);

}  // namespace ares::cli
