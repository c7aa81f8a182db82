// Converts times, amounts and states of an accounting row to text. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/duration.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

// The unit of printed memory amounts.
struct Units {
  std::optional<MemoryUnit> always;  // --units
  bool convert = true;               // Otherwise as recorded: measured amounts in K, others in M.
};

// "K", "M", "G", "T" or "P".
Result<MemoryUnit> parse_unit(const std::string& text);

std::string measured_memory_text(std::int64_t bytes, const Units& units);

// "cpu=4,mem=8000M,node=2" with memory in the requested unit.
std::string tres_text(const std::string& tres, const Units& units);

// The amount of one TRES in such a list, 0 if it is missing; memory is in MiB.
std::int64_t tres_amount(std::string_view tres, std::string_view name);
// The amount as text, as it stands in the list: "0.5" GPUs.
std::string tres_word(std::string_view tres, std::string_view name);
// The amount in thousandths.
std::int64_t tres_thousandths(std::string_view tres, std::string_view name);
std::string memory_text(std::int64_t mebibytes, const Units& units);

inline std::string cpu_text(std::int64_t micros) {
  return format_cpu_time(Duration(micros));
}

// "CANCELLED by 1001".
std::string state_text(const api::AccountingRow& row);

std::string time_text(std::int64_t micros, const char* none = "Unknown");
std::string time_limit_text(const api::AccountingRow& row);
std::string time_limit_minutes(const api::AccountingRow& row);

// From start to end, or to now; 0 for what never started.
Seconds elapsed(const api::AccountingRow& row, Time now);  // without what it was suspended
Seconds suspended(const api::AccountingRow& row, Time now);
// From the time it became eligible to its start, its end, or now.
Seconds planned(const api::AccountingRow& row, Time now);

// The file of one of the script's streams: its pattern, or the default one, in the job's folder.
enum class Stream { in, out, err };
std::string path_text(const api::AccountingRow& row, Stream stream);

}  // namespace ares::aacct
