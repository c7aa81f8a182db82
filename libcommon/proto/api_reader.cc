#include "proto/api_reader.h"

#include <algorithm>
#include <cstring>

#include "base/clip.h"

namespace ares::proto {
namespace {

struct TextRule {
  TextKind kind;
  std::size_t max;
  std::string_view allowed_controls;  // allowed below 0x20; 0x7f is never allowed
  bool any_but_nul;
};
constexpr TextRule kTextRules[] = {
    {TextKind::name, 255, "", false},       {TextKind::title, 1024, "", false},
    {TextKind::path, 4095, "", false},      {TextKind::prose, 4096, "\n\t", false},
    {TextKind::argument, 131071, "", true}, {TextKind::none, 0, "", false},
};

// Limits far above real times, so that adding two times cannot overflow.
constexpr std::int64_t kMaxMicroseconds = std::int64_t{1} << 60;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 40;

// Fewer than check_text() refuses at submission: messages to nodes also carry jobs that an earlier release
// accepted.
bool may_contain(const TextRule& rule, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (rule.any_but_nul) return byte != 0;
  return (byte >= 0x20 && byte != 0x7f) ||
         (byte != 0 && rule.allowed_controls.find(c) != std::string_view::npos);
}

}  // namespace

void Reader::reject(std::string_view field, std::string_view why) {
  if (error_) return;
  std::string message = what_;
  message.append(": ").append(field).append(" ").append(why);
  error_ = Error{ErrorCode::invalid_argument, std::move(message)};
}

void Reader::text(std::string_view field, const std::string& in, TextKind kind, std::string& out) {
  const TextRule& rule = kTextRules[static_cast<std::size_t>(kind)];
  if (in.size() > rule.max)
    return reject(field, "has " + std::to_string(in.size()) + " bytes; at most " +
                             std::to_string(rule.max) + " are allowed");
  if (!std::all_of(in.begin(), in.end(), [&](char c) { return may_contain(rule, c); }))
    return reject(field, rule.any_but_nul ? "contains a NUL byte" : "contains a control character");
  out = in;
}

void Reader::cleaned_text(const std::string& in, std::string& out) {
  out = clip(in);
  const TextRule& rule = kTextRules[static_cast<std::size_t>(TextKind::prose)];
  for (char& c : out)
    if (!may_contain(rule, c)) c = '?';
}

void Reader::bytes(std::string_view field, std::int64_t in, Bytes& out) {
  if (in < 0) return reject(field, "is negative");
  out = Bytes(in);
}

void Reader::seconds(std::string_view field, std::int64_t in, Seconds& out) {
  if (in < 0) return reject(field, "is negative");
  if (in > kMaxSeconds) return reject(field, "is too long a time");
  out = Seconds(in);
}

void Reader::duration(std::string_view field, std::int64_t in, Duration& out) {
  if (in < 0) return reject(field, "is negative");
  if (in > kMaxMicroseconds) return reject(field, "is too long a time");
  out = Duration(in);
}

void Reader::time(std::string_view field, std::int64_t in, Time& out) {
  Duration since_epoch{};
  duration(field, in, since_epoch);
  out = Time(since_epoch);
}

void Reader::digest(std::string_view field, const std::string& in,
                    std::array<std::uint8_t, 32>& out) {
  out = {};
  if (in.empty()) return;
  if (in.size() != out.size())
    return reject(field, "is no digest: it has " + std::to_string(in.size()) + " bytes, not 32");
  std::memcpy(out.data(), in.data(), out.size());
}

}  // namespace ares::proto
