#include "model/job/warning_signal.h"

#include <charconv>

#include "base/printable.h"
#include "base/signal_name.h"

namespace ares {

Result<WarningSignal> parse_warning_signal(std::string_view text) {
  WarningSignal warning;
  std::string_view rest = text;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    for (const char flag : rest.substr(0, colon)) {
      if (flag == 'B' || flag == 'b') {
        warning.batch_only = true;
      } else if (flag == 'R' || flag == 'r') {
        return fail(ErrorCode::invalid_argument,
                    "R: in " + quote(text) +
                        " is for jobs that overlap a later reservation; here no job does: leave "
                        "R: out");
      } else {
        return fail(ErrorCode::invalid_argument,
                    quote(text) + " is not a signal; before the colon only B is possible");
      }
    }
    rest.remove_prefix(colon + 1);
  }
  const std::size_t at = rest.find('@');
  const Result<int> signal = parse_signal(rest.substr(0, at));
  if (!signal) return fail(signal.error());
  warning.signal = *signal;
  if (at == std::string_view::npos) return warning;

  rest.remove_prefix(at + 1);
  std::int64_t seconds = 0;
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, seconds);
  if (error != std::errc{} || stop != end || seconds < 0 || seconds > kLongestWarning.count())
    return fail(ErrorCode::invalid_argument, quote(rest) +
                                                 " is not a number of seconds from 0 to " +
                                                 std::to_string(kLongestWarning.count()));
  warning.before = Seconds(seconds);
  return warning;
}

std::string format_warning_signal(const WarningSignal& warning) {
  return (warning.batch_only ? "B:" : "") + signal_name(warning.signal) + "@" +
         std::to_string(warning.before.count());
}

}  // namespace ares
