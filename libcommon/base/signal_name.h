// Names of signals: "USR1", "SIGUSR1" and "10" are the same one. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ares {

// The highest number of a signal; those from 34 on, for real time, have no names.
inline constexpr int kMaxSignal = 64;

// invalid_argument unless it names a signal of this machine; upper and lower case are the same.
Result<int> parse_signal(std::string_view text);

// "USR1"; the number if it has no name.
std::string signal_name(int signal);

}  // namespace ares
