#include "aacctmgr/edit/limits_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "base/duration.h"
#include "base/printable.h"
#include "base/units.h"
#include "cli/output/text.h"
#include "config/suggest.h"
#include "core/accounts/check.h"

namespace ares::aacctmgr {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kMemory = "mem";

tl::unexpected<Error> bad(const LimitRow& row, const std::string& why) {
  return fail(ErrorCode::invalid_argument, std::string(row.name) + ": " + why);
}

bool clears(std::string_view value) {
  return value.empty() || value == "-1";
}

void put(Limits& limits, Limit limit) {
  const auto same = [&](const Limit& other) {
    return other.kind == limit.kind && other.tres == limit.tres;
  };
  std::erase_if(limits, same);
  limits.insert(std::upper_bound(limits.begin(), limits.end(), limit), std::move(limit));
}

void take(Limits& limits, LimitKind kind, std::string_view tres) {
  std::erase_if(limits,
                [&](const Limit& limit) { return limit.kind == kind && limit.tres == tres; });
}

Result<std::uint64_t> count(const LimitRow& row, std::string_view value) {
  const auto number = cli::parse_number(value, kMost);
  if (!number) return bad(row, quote(value) + " is no whole number; -1 is no limit");
  return *number;
}

// Parses memory into MiB, rounding up.
Result<std::uint64_t> memory(const LimitRow& row, std::string_view value) {
  if (const auto plain = cli::parse_number(value, kMost)) return *plain;
  const auto bytes = parse_memory(value);
  if (!bytes) return bad(row, "mem: " + bytes.error().message);
  const std::uint64_t amount = static_cast<std::uint64_t>(bytes->value());
  return (amount >> 20) + ((amount & ((1u << 20) - 1)) ? 1 : 0);
}

Result<std::uint64_t> minutes(const LimitRow& row, std::string_view value) {
  if (const auto plain = cli::parse_number(value, kMost)) return *plain;
  const auto limit = parse_time_limit(value);
  if (!limit) return bad(row, limit.error().message);
  if (!*limit) return std::uint64_t{0};  // Every spelling of zero.
  return static_cast<std::uint64_t>(((*limit)->count() + 59) / 60);
}

Status check_tres(const LimitRow& row, const std::string& name) {
  if (core::is_limited_tres(name)) return {};
  const std::vector<std::string> known = {"cpu",      "mem",           "node",        "billing",
                                          "gres/gpu", "gres/gpu:TYPE", "license/NAME"};
  std::string meant = config::suggestion(cli::lower(name), known);
  if (cli::lower(name) == "gpu" || cli::lower(name) == "gpus")
    meant = "; did you mean \"gres/gpu\"?";
  return bad(row, quote(name) + " is nothing that can be limited" +
                      (meant.empty() ? "; " + cli::join(known, ", ") + " can" : meant));
}

Status set_amounts(Limits& limits, const LimitRow& row, std::string_view value) {
  Limits changed = limits;
  for (const std::string& item : cli::split(value, ',')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad(row, quote(item) + ": expected TRES=AMOUNT, such as cpu=100,gres/gpu=4");
    const std::string name = item.substr(0, equals), amount = item.substr(equals + 1);
    if (Status ok = check_tres(row, name); !ok) return ok;
    if (clears(amount)) {
      take(changed, row.kind, name);
      continue;
    }
    const auto read = name == kMemory ? memory(row, amount) : count(row, amount);
    if (!read) return fail(read.error());
    put(changed, {row.kind, name, *read});
  }
  limits = std::move(changed);
  return {};
}

std::string amount_text(const Limit& limit) {
  constexpr std::uint64_t kMostMebibytes =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) >> 20;
  if (limit.tres == kMemory && limit.value > 0 && limit.value <= kMostMebibytes)
    return format_memory(Bytes::mib(static_cast<std::int64_t>(limit.value)));
  return std::to_string(limit.value);
}

std::string minutes_text(std::uint64_t minutes) {
  constexpr std::uint64_t kMostMinutes = std::uint64_t{1} << 31;  // Upper bound of a parsed time.
  if (minutes > kMostMinutes) return std::to_string(minutes);
  return format_duration(std::chrono::minutes(static_cast<std::int64_t>(minutes)));
}

}  // namespace

Status set_limit(Limits& limits, const LimitRow& row, std::string_view value) {
  const std::string word = cli::lower(value);
  const bool time = row.unit == LimitUnit::minutes;
  if (clears(value) || (time && (word == "unlimited" || word == "infinite"))) {
    std::erase_if(limits, [&](const Limit& limit) { return limit.kind == row.kind; });
    return {};
  }
  if (row.unit == LimitUnit::tres || row.unit == LimitUnit::tres_minutes)
    return set_amounts(limits, row, value);
  const auto read = time ? minutes(row, value) : count(row, value);
  if (!read) return fail(read.error());
  put(limits, {row.kind, {}, *read});
  return {};
}

std::string limit_text(const Limits& limits, LimitKind kind) {
  std::string text;
  for (const Limit& limit : limits) {
    if (limit.kind != kind) continue;
    switch (row_of(kind).unit) {
      case LimitUnit::count: return std::to_string(limit.value);
      case LimitUnit::minutes: return minutes_text(limit.value);
      case LimitUnit::tres:
      case LimitUnit::tres_minutes:
        text += (text.empty() ? "" : ",") + limit.tres + "=" + amount_text(limit);
    }
  }
  return text;
}

}  // namespace ares::aacctmgr
