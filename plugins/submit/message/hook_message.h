// What ares-submit-hook is asked and what it answers: one line of JSON each on its standard input and output. Values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ares::submit {

// A field as Lua sees it; nothing = nil.
using FieldValue = std::variant<std::monostate, bool, double, std::string>;
using FieldValues = std::map<std::string, FieldValue>;
using Variables = std::map<std::string, std::string>;

struct HookCall {
  enum class Function : std::uint8_t { job_submit, job_modify };
  Function function = Function::job_submit;
  std::string file;          // the script
  std::uint32_t caller = 0;  // uid of the user who submits or changes
  std::uint32_t time_limit_ms = 0;
  std::uint64_t memory_limit = 0;      // bytes
  FieldValues job;                     // all fields of job_desc
  std::vector<std::string> read_only;  // names of those that the script cannot set
  FieldValues record;                  // job_rec: the job that is changed; empty for job_submit
  std::vector<FieldValues> partitions;
  Variables environment;  // of the job; empty for job_modify
};

struct LogLine {
  std::string level;  // error, info, debug
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

struct HookAnswer {
  enum class Kind : std::uint8_t {
    accepted,
    refused,  // the function returned an error
    failed    // the script cannot be loaded, threw, or went beyond a limit
  };
  Kind kind = Kind::accepted;
  std::string problem{};                // of `failed`, for users: without the script's folder
  std::vector<std::string> messages{};  // for the user
  std::vector<LogLine> log{};
  FieldValues changes{};  // fields that were set, of `accepted`
  // Variables of the environment that were set or, with nothing, removed.
  std::map<std::string, FieldValue> environment{};
};

std::string to_json(const HookCall& call);
Result<HookCall> hook_call_from_json(std::string_view text);  // invalid_argument

std::string to_json(const HookAnswer& answer);
Result<HookAnswer> hook_answer_from_json(std::string_view text);  // invalid_argument

}  // namespace ares::submit
