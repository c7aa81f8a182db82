#include "notify/send/mail_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "base/printable.h"

namespace ares::notify {
namespace {

constexpr std::size_t kLongestLine = 998;  // RFC 5322, 2.1.1

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Whether the body can be sent as it is.
bool is_plain_body(std::string_view body) {
  std::size_t line = 0;
  for (const char c : body) {
    line = c == '\n' ? 0 : line + 1;
    if (line > kLongestLine || (c != '\n' && c != '\t' && (c < 0x20 || c >= 0x7f))) return false;
  }
  return true;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string with_crlf(std::string_view body) {
  std::string text;
  for (const char c : body) {
    if (c == '\n') text += '\r';
    text += c;
  }
  if (!text.empty() && !text.ends_with('\n')) text += "\r\n";
  return text;
}

// Not of the header's syntax: they could end the value or begin another.
std::string one_line(std::string_view text) {
  return printable(text);
}

}  // namespace

std::string base64_lines(std::string_view bytes) {
  constexpr std::size_t kLine = 57;  // 76 characters
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += kLine)
    text += base64(bytes.substr(i, kLine)) + "\r\n";
  return text;
}

std::string encoded_header(std::string_view text) {
  std::string plain = one_line(text);
  if (is_printable_ascii(plain) && plain.size() < kLongestLine - 20) return plain;
  // An encoded word has at most 75 characters and holds whole characters: RFC 2047, 2 and 5.
  constexpr std::size_t kMost = 45;
  std::string out;
  for (std::size_t from = 0; from < plain.size();) {
    std::size_t end = std::min(from + kMost, plain.size());
    while (end < plain.size() && end > from + 1 &&
           (static_cast<unsigned char>(plain[end]) & 0xc0) == 0x80)
      --end;
    out += (out.empty() ? "" : "\r\n ") +
           ("=?utf-8?B?" + base64(std::string_view(plain).substr(from, end - from)) + "?=");
    from = end;
  }
  return out;
}

std::string mail_date(std::int64_t seconds) {
  using namespace std::chrono;
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_seconds at{std::chrono::seconds(seconds)};
  const sys_days day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss time(at - day);
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d +0000",
                kDays[weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text;
}

std::string internet_message(const Mail& mail) {
  std::string out;
  const auto header = [&](std::string_view name, const std::string& value) {
    out += std::string(name) + ": " + value + "\r\n";
  };
  std::string to;
  for (const std::string& address : mail.to)
    to += (to.empty() ? "" : ",\r\n ") + one_line(address);  // folded: a line holds one address
  const bool plain = is_plain_body(mail.body);
  header("Date", mail_date(mail.date));
  header("From", "Ares <" + one_line(mail.from) + ">");
  header("To", to);
  header("Message-ID", "<" + one_line(mail.id) + ">");
  header("Subject", encoded_header(mail.subject));
  header("Auto-Submitted", "auto-generated");  // RFC 3834: no answers of the kind "I am away"
  header("MIME-Version", "1.0");
  header("Content-Type", plain ? "text/plain; charset=us-ascii" : "text/plain; charset=utf-8");
  header("Content-Transfer-Encoding", plain ? "7bit" : "base64");
  return out + "\r\n" + (plain ? with_crlf(mail.body) : base64_lines(with_crlf(mail.body)));
}

}  // namespace ares::notify
