// Command-line options as rows of a table. Parsing, --help, the manual page and completion use the
// same row. Owned by one command's main thread. The syntax is that of getopt_long: long
// names may be shortened as long as they mean one option.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::cli {

struct Option {
  char letter = 0;   // 0 = none
  std::string name;  // without dashes
  // "" = no value, "N" = required value, "[N]" = optional value: --name=N or -xN.
  std::string argument;
  std::string help;                                 // One sentence for the manual page and --help.
  std::function<Status(const std::string&)> apply;  // Gets "" if an optional value is missing.
  std::vector<std::string> aliases{};               // further long names
  std::vector<std::string> excludes{};  // Long names of options that contradict this one.
  bool directive = true;                // Allowed in a script.
  bool environment = true;              // Allowed as PREFIX_NAME in the environment.
  bool any_text = false;                // The value may contain control characters.
  std::string variable{};               // Environment variable to use instead of PREFIX_NAME.
};

// An option of other batch systems that is not implemented. It is refused by name, never ignored.
struct Unsupported {
  char letter = 0;
  std::string name;
  bool argument = true;
  // Why it will not be, and what to do in its place; empty: it is not supported yet.
  std::string why{};
};

struct OptionTable {
  std::vector<Option> options;
  std::vector<Unsupported> unsupported{};
  std::vector<std::string> keys{};   // Operands KEY=VALUE that users often write as options.
  std::string environment_prefix{};  // "ASUB_"; "" = the environment is not read.
  bool stop_at_operand = false;      // All words after the first operand are operands.
};

// Ascending precedence. `line` is a line of a file in which each line describes one object (asub
// --from).
enum class Source { directive, environment, command_line, line };

struct GivenOption {
  const Option* option = nullptr;
  std::string value;
  Source source = Source::command_line;
  std::string where;  // prefix of messages: "job.sh:3: ", "ASUB_TIME: "
};

struct Parsed {
  std::vector<GivenOption> given;
  std::vector<std::string> operands;
};

// All errors are invalid_argument; they begin with `where` and name the option.
Result<Parsed> parse_options(const OptionTable& table, std::span<const std::string> words,
                             Source source = Source::command_line, const std::string& where = {});

// Reads options from variables such as ASUB_JOB_NAME. An option without a value is set by any value
// except "", "0", "no" and "false".
using GetEnvironment = std::function<const char*(const char*)>;
Result<std::vector<GivenOption>> options_from_environment(const OptionTable& table,
                                                          const GetEnvironment& get);

// Applies in ascending precedence, so that the last value takes effect. Of two contradicting
// options the one of higher precedence takes effect; at equal precedence they are refused.
Status apply_options(std::span<const GivenOption> given);

// "ASUB_JOB_NAME" for job-name.
std::string environment_name(const OptionTable& table, const Option& option);

// "--job-name", or "-x" for an option without a long name.
std::string display_name(const Option& option);

// Apply functions for common kinds of options.
std::function<Status(const std::string&)> set_flag(bool& flag, bool value = true);
std::function<Status(const std::string&)> set_text(std::string& text);
std::function<Status(const std::string&)> set_list(
    std::vector<std::string>& list);  // comma-separated

}  // namespace ares::cli
