// The signal that announces the end of an attempt: asub --signal. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ares {

struct WarningSignal {
  std::int32_t signal = 0;
  Seconds before{60};       // this long before the time limit ends the attempt
  bool batch_only = false;  // to the batch script alone; else to all processes but the batch script
  friend bool operator==(const WarningSignal&, const WarningSignal&) = default;
};

inline constexpr Seconds kLongestWarning{65535};

// "USR1", "B:TERM@120". invalid_argument says what is wrong.
Result<WarningSignal> parse_warning_signal(std::string_view text);

// The canonical form, "B:TERM@120"; the time is always there.
std::string format_warning_signal(const WarningSignal& warning);

}  // namespace ares
