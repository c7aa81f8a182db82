// What fields print: times, amounts and states of an accounting row as text.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

// In which unit amounts of memory are printed.
struct Units {
  std::optional<MemoryUnit> always;  // --units
  bool convert = true;               // else as recorded: measured ones in K, others in M
};

// "K", "M", "G", "T" or "P".
Result<MemoryUnit> parse_unit(const std::string& text);

std::string measured_memory_text(std::int64_t bytes, const Units& units);

// "cpu=4,mem=8000M,node=2" with its memory in the unit asked for.
std::string tres_text(const std::string& tres, const Units& units);

// One amount of such a list, 0 if it is not there; memory is in MiB.
std::int64_t tres_amount(std::string_view tres, std::string_view name);
// The same as it stands there: "0.5" GPUs.
std::string tres_word(std::string_view tres, std::string_view name);
// In thousandths.
std::int64_t tres_thousandths(std::string_view tres, std::string_view name);
std::string memory_text(std::int64_t mebibytes, const Units& units);

// Below an hour with milliseconds, as short jobs would all read 0 otherwise.
std::string cpu_text(std::int64_t micros);

// "CANCELLED by 1001".
std::string state_text(const api::AccountingRow& row);

std::string time_text(std::int64_t micros, const char* none = "Unknown");
std::string time_limit_text(const api::AccountingRow& row);
std::string time_limit_minutes(const api::AccountingRow& row);

// From start to end, or to now; 0 for what never started.
Seconds elapsed(const api::AccountingRow& row, Time now);  // without what it was suspended
Seconds suspended(const api::AccountingRow& row, Time now);
// From when it could have run to its start, or to its end, or to now.
Seconds planned(const api::AccountingRow& row, Time now);

// Where a stream of the script goes: its pattern, or the default one, in the job's folder.
enum class Stream { in, out, err };
std::string path_text(const api::AccountingRow& row, Stream stream);

// "87.5%", or "" where there is no whole.
std::string percent_text(double part, double whole);

}  // namespace ares::aacct
