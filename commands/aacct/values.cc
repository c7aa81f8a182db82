#include "aacct/values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/duration.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "cli/output/text.h"

namespace ares::aacct {
namespace {

constexpr std::string_view kUnits = "BKMGTP";
constexpr std::int64_t kSecond = 1'000'000;

std::int64_t power(MemoryUnit unit) {
  return std::int64_t{1} << (10 * static_cast<int>(unit));
}

// Whole numbers without decimals, others with two.
std::string in_unit(double bytes, MemoryUnit unit) {
  const double amount = bytes / static_cast<double>(power(unit));
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, amount == std::floor(amount) ? "%.0f%c" : "%.2f%c", amount,
                kUnits[static_cast<std::size_t>(unit)]);
  return buffer;
}

std::int64_t count(Time time) {
  return time.time_since_epoch().count();
}

Seconds between(std::int64_t from, std::int64_t to) {
  return Seconds(std::max<std::int64_t>(0, (to - from) / kSecond));
}

}  // namespace

Result<MemoryUnit> parse_unit(const std::string& text) {
  const std::size_t at = text.size() == 1 ? kUnits.find(cli::upper(text)[0]) : std::string::npos;
  if (at == std::string::npos || at == 0)
    return fail(ErrorCode::invalid_argument, quote(text) + ": expected K, M, G, T or P");
  return static_cast<MemoryUnit>(at);
}

std::string measured_memory_text(std::int64_t bytes, const Units& units) {
  if (bytes == 0) return {};
  if (units.always) return in_unit(static_cast<double>(bytes), *units.always);
  if (!units.convert) return std::to_string((bytes + 1023) / 1024) + "K";
  return format_memory_short(Bytes(bytes));
}

std::string memory_text(std::int64_t mebibytes, const Units& units) {
  if (units.always) return in_unit(static_cast<double>(mebibytes) * (1 << 20), *units.always);
  if (!units.convert || mebibytes == 0) return std::to_string(mebibytes) + "M";
  std::size_t unit = 2;
  for (; mebibytes % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) mebibytes /= 1024;
  return std::to_string(mebibytes) + kUnits[unit];
}

std::string tres_word(std::string_view tres, std::string_view name) {
  for (std::size_t at = 0; at < tres.size();) {
    const std::size_t end = std::min(tres.find(',', at), tres.size());
    std::string_view item = tres.substr(at, end - at);
    at = end + 1;
    if (!item.starts_with(name) || item.size() <= name.size() || item[name.size()] != '=') continue;
    item.remove_prefix(name.size() + 1);
    return std::string(item);
  }
  return "0";
}

std::int64_t tres_amount(std::string_view tres, std::string_view name) {
  std::string word = tres_word(tres, name);
  if (word.ends_with('M')) word.pop_back();
  const auto amount = cli::parse_number(word, INT64_MAX);
  return amount ? static_cast<std::int64_t>(*amount) : 0;
}

std::int64_t tres_thousandths(std::string_view tres, std::string_view name) {
  const std::string word = tres_word(tres, name);
  const std::size_t point = std::min(word.find('.'), word.size());
  std::string decimals(point < word.size() ? word.substr(point + 1) : "");
  decimals.resize(3, '0');
  const auto whole = cli::parse_number(word.substr(0, point), INT64_MAX / 1000);
  const auto part = cli::parse_number(decimals, 999);
  return whole && part ? static_cast<std::int64_t>(*whole * 1000 + *part) : 0;
}

std::string tres_text(const std::string& tres, const Units& units) {
  const std::size_t begin = tres.starts_with("mem=") ? 0 : tres.find(",mem=");
  if (begin == std::string::npos) return tres;
  const std::size_t value = tres.find('=', begin) + 1;
  const std::size_t end = std::min(tres.find(',', value), tres.size());
  return tres.substr(0, value) + memory_text(tres_amount(tres, "mem"), units) + tres.substr(end);
}

std::string state_text(const api::AccountingRow& row) {
  if (row.has_cancelled_by() && row.state() == "CANCELLED")
    return "CANCELLED by " + std::to_string(row.cancelled_by());
  return row.state();
}

std::string time_text(std::int64_t micros, const char* none) {
  return micros == 0 ? none : format_local_time(Time(Duration(micros)));
}

std::string time_limit_text(const api::AccountingRow& row) {
  if (row.has_time_limit() && row.time_limit() == 0) return "Partition_Limit";
  return format_time_limit(row.has_time_limit() ? TimeLimit(Seconds(row.time_limit()))
                                                : TimeLimit{});
}

std::string time_limit_minutes(const api::AccountingRow& row) {
  if (!row.has_time_limit()) return "UNLIMITED";
  if (row.time_limit() == 0) return "Partition_Limit";
  return std::to_string((row.time_limit() + 59) / 60);
}

Seconds elapsed(const api::AccountingRow& row, Time now) {
  if (row.started() == 0) return Seconds(0);
  const std::int64_t end = row.ended()          ? row.ended()
                           : row.suspended_at() ? row.suspended_at()
                                                : count(now);
  return between(row.started() + row.suspended(), end);
}

Seconds suspended(const api::AccountingRow& row, Time now) {
  const std::int64_t still =
      row.suspended_at() && !row.ended() ? count(now) - row.suspended_at() : 0;
  return between(0, row.suspended() + still);
}

Seconds planned(const api::AccountingRow& row, Time now) {
  if (row.eligible() == 0) return Seconds(0);
  return between(row.eligible(), row.started() ? row.started()
                                 : row.ended() ? row.ended()
                                               : count(now));
}

std::string path_text(const api::AccountingRow& row, Stream stream) {
  std::string name = stream == Stream::in                              ? row.std_in()
                     : stream == Stream::err && !row.std_err().empty() ? row.std_err()
                                                                       : row.std_out();
  if (name.empty()) {
    if (stream == Stream::in) return "/dev/null";
    name = row.array_spec().empty() ? "ares-%j.out" : "ares-%A_%a.out";
  }
  if (!name.starts_with('/') && !row.work_dir().empty()) name = row.work_dir() + "/" + name;
  return name;
}

}  // namespace ares::aacct
