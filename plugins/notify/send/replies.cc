#include "notify/send/replies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::notify {
namespace {

constexpr Seconds kLongestWait{24 * 3600};
constexpr std::size_t kLongestText = 200;

Seconds bounded(std::int64_t seconds) {
  return Seconds(std::clamp<std::int64_t>(seconds, 0, kLongestWait.count()));
}

// "Sun, 06 Nov 1994 08:49:37 GMT" in seconds since 1970; -1 if it is none.
std::int64_t http_date(const std::string& text) {
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  unsigned day = 0, hour = 0, minute = 0, second = 0;
  int year = 0, length = 0;
  char month[4] = "";
  if (std::sscanf(text.c_str(), "%*3[A-Za-z], %2u %3[A-Za-z] %4d %2u:%2u:%2u GMT%n", &day, month,
                  &year, &hour, &minute, &second, &length) != 6 ||
      length != static_cast<int>(text.size()))
    return -1;
  using namespace std::chrono;
  const auto* found = std::find_if(kMonths.begin(), kMonths.end(),
                                   [&](const char* name) { return std::strcmp(name, month) == 0; });
  if (found == kMonths.end()) return -1;
  const year_month_day date{std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(found - kMonths.begin()) + 1),
                            std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return -1;
  const sys_seconds at = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  return at.time_since_epoch().count();
}

std::string first_line(std::string_view body) {
  return printable(clip(body.substr(0, body.find_first_of("\r\n")), kLongestText));
}

}  // namespace

Seconds retry_after_of(std::string_view value, std::int64_t now) {
  while (value.ends_with(' ')) value.remove_suffix(1);
  std::uint64_t seconds = 0;
  const char* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, seconds);
  if (rest == end && error == std::errc{})
    return bounded(static_cast<std::int64_t>(
        std::min<std::uint64_t>(seconds, static_cast<std::uint64_t>(kLongestWait.count()))));
  if (rest == end && error == std::errc::result_out_of_range) return kLongestWait;
  const std::int64_t at = http_date(std::string(value));
  return at < 0 ? Seconds(0) : bounded(at - now);
}

Outcome http_outcome(long status, std::string_view retry_after, std::string_view body,
                     std::int64_t now) {
  if (status >= 200 && status < 300) return {};
  Outcome outcome;
  outcome.text = "the server answered " + std::to_string(status);
  if (const std::string line = first_line(body); !line.empty()) outcome.text += ": " + line;
  if (status >= 300 && status < 400)
    outcome.text += "; redirections are not followed, so its url must be changed";
  constexpr long kOfMessage[] = {400, 405, 406, 409, 410, 413, 414, 415, 422, 501};
  if (std::find(std::begin(kOfMessage), std::end(kOfMessage), status) != std::end(kOfMessage)) {
    outcome.kind = Outcome::Kind::refused;
    return outcome;
  }
  constexpr long kOfServer[] = {401, 407, 408, 429, 502, 503, 504};
  outcome.kind = Outcome::Kind::later;
  outcome.of_server = status < 400 || std::find(std::begin(kOfServer), std::end(kOfServer),
                                                status) != std::end(kOfServer);
  outcome.wait = retry_after_of(retry_after, now);
  return outcome;
}

Outcome smtp_outcome(long code, bool of_message, std::string text) {
  Outcome outcome;
  const std::string clipped = printable(clip(text, kLongestText));
  outcome.text = code > 0 ? "the server answered " + clipped : clipped;
  // 421: it closes. 530 to 538: it wants to know who sends.
  of_message = of_message && code >= 400 && code != 421 && !(code >= 530 && code <= 538);
  outcome.kind = of_message && code >= 500 ? Outcome::Kind::refused : Outcome::Kind::later;
  outcome.of_server = !of_message;
  return outcome;
}

}  // namespace ares::notify
