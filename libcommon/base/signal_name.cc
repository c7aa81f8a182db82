#include "base/signal_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>

#include "base/printable.h"

namespace ares {
Result<int> parse_signal(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && rest == end && number > 0 && number <= kMaxSignal) return number;

  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* known = sigabbrev_np(signal);
    if (known && name == known) return signal;
  }
  return fail(ErrorCode::invalid_argument,
              "unknown signal " + quote(text) + "; write a name such as USR1 or a number");
}

std::string signal_name(int signal) {
  const char* known = signal > 0 && signal < NSIG ? sigabbrev_np(signal) : nullptr;
  return known ? known : std::to_string(signal);
}

}  // namespace ares
