// Command-line options as rows of a table: parsing, --help, the manual page and completion come from the same row.
// Owned by one command's main thread. Spelling is that of getopt_long, but abbreviated names are refused.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::cli {

struct Option {
  char letter = 0;       // 0 = none
  std::string name;      // without dashes
  std::string argument;  // "" = takes none, "N" = takes one, "[N]" = may take one: --name=N or -xN
  std::string help;      // one sentence; man page and --help
  std::function<Status(const std::string&)> apply;  // "" where an optional argument was left out
  std::vector<std::string> aliases{};               // further long names
  std::vector<std::string> excludes{};              // long names that contradict it
  bool directive = true;                            // may stand in a script
  bool environment = true;                          // may come as PREFIX_NAME
  bool any_text = false;                            // the value may hold control characters
  std::string variable{};                           // of the environment, instead of PREFIX_NAME
};

// An option that users of other batch systems know and that is not built yet: it is refused by name, never ignored.
struct Unsupported {
  char letter = 0;
  std::string name;
  bool argument = true;
};

struct OptionTable {
  std::vector<Option> options;
  std::vector<Unsupported> unsupported{};
  std::string environment_prefix{};  // "ASUB_"; "" = none is read
  bool stop_at_operand = false;      // what follows the first operand belongs to it
};

// Ascending precedence. `line` is one of the lines of a file that each describe one thing (asub --from).
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

// Errors (all invalid_argument) begin with `where` and name the option.
Result<Parsed> parse_options(const OptionTable& table, std::span<const std::string> words,
                             Source source = Source::command_line, const std::string& where = {});

// Options from variables such as ASUB_JOB_NAME. An option without argument is given by any value but "", "0", "no" and "false".
using GetEnvironment = std::function<const char*(const char*)>;
Result<std::vector<GivenOption>> options_from_environment(const OptionTable& table,
                                                          const GetEnvironment& get);

// Applies in ascending precedence, so that the later value stands. Of two options that exclude each other the one of higher
// precedence stands; at equal precedence they are refused.
Status apply_options(std::span<const GivenOption> given);

// "ASUB_JOB_NAME" for job-name.
std::string environment_name(const OptionTable& table, const Option& option);

// "--job-name", or "-x" for an option without a long name.
std::string display_name(const Option& option);

// Rows' apply functions for the usual cases.
std::function<Status(const std::string&)> set_flag(bool& flag, bool value = true);
std::function<Status(const std::string&)> set_text(std::string& text);
std::function<Status(const std::string&)> set_list(
    std::vector<std::string>& list);  // comma-separated

}  // namespace ares::cli
