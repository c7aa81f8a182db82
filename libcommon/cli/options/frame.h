// What every command does alike: common options, complaints, the way to the controller.
// Owned by a command's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "rpc/client/client.h"

namespace ares::cli {

inline constexpr int kExitRefused = 1;
inline constexpr int kExitUnavailable = 75;  // EX_TEMPFAIL: the same line may work later

struct CommonOptions {
  std::string config;  // --config
  bool help = false;
  bool version = false;
};

// Adds the rows --config, --help, --version. `help_letter` is 0 where -h means something else.
void add_common_options(OptionTable& table, CommonOptions& common, char help_letter = 'h');

std::vector<std::string> words_of(int argc, char** argv);

// Answers the hidden --help-man and --help-completion, which only stand alone: the exit status, or nothing.
std::optional<int> answer_hidden(const Manual& manual, const OptionTable& table,
                                 const std::vector<std::string>& words);

// Answers --help and --version once options are applied.
std::optional<int> answer_common(const Manual& manual, const OptionTable& table,
                                 const CommonOptions& common);

// Parses, reads the environment and applies. What is left are the operands.
Result<std::vector<std::string>> take_options(const OptionTable& table,
                                              const std::vector<std::string>& words);

// A command line from its words to its exit status, for commands whose options all come from the line and the environment: answers
// what can be answered by the table, applies the options, and gives the operands to `work`.
using Words = std::vector<std::string>;
Result<int> run_line(const Manual& manual, const OptionTable& table, const CommonOptions& common,
                     const Words& words, const std::function<Result<int>(Words operands)>& work);

// For a command that takes no operands: `hint` says which option does, "to name jobs use -j".
Status refuse_operands(const Words& operands, const std::string& hint);

// main(): the exit status of `run`, which is told of if it failed.
int run_main(std::string_view program, int argc, char** argv, Result<int> (*run)(const Words&));

// Prints "asub: message" and gives the exit status for it.
int print_error(std::string_view program, const Error& error);

// How long a command goes on trying while the controller is away.
enum class RetryPolicy {
  none,    // answers at once
  query,   // half a minute
  change,  // as long as a user would wait for a submission
};

// The client of the controller that the configuration names. A line on standard error says when it retries, unless `quiet`.
Result<rpc::Client> open_client(std::string_view program, const CommonOptions& common,
                                RetryPolicy policy, bool quiet = false);

// Where the calling process stands in time: for the options that take points in time.
Time clock_now();

// 0 where standard output is no terminal.
unsigned terminal_width();

}  // namespace ares::cli
