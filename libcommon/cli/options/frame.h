// Functions common to all commands: error messages, and the connection to the controller. Owned by a command's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/options/common_options.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "rpc/client/client.h"

namespace ares::cli {

inline constexpr int kExitRefused = 1;
inline constexpr int kExitUnavailable = 75;  // EX_TEMPFAIL: the same command may succeed later.

std::vector<std::string> words_of(int argc, char** argv);

// Answers the hidden options --help-man and --help-completion, which must be the only argument.
// Returns the exit status, or nothing if neither was given.
std::optional<int> answer_hidden(const Manual& manual, const OptionTable& table,
                                 const std::vector<std::string>& words);

// Answers --help and --version after the options are applied.
std::optional<int> answer_common(const Manual& manual, const OptionTable& table,
                                 const CommonOptions& common);

// Parses the arguments, reads the environment and applies the options. Returns the operands.
Result<std::vector<std::string>> take_options(const OptionTable& table,
                                              const std::vector<std::string>& words);

// Runs a command whose options come only from the command line and the environment: answers help
// requests, applies the options and calls `work` with the operands. Returns the exit status.
using Words = std::vector<std::string>;
Result<int> run_line(const Manual& manual, const OptionTable& table, const CommonOptions& common,
                     const Words& words, const std::function<Result<int>(Words operands)>& work);

// For a command without operands. `hint` names the option to use instead: "to name jobs use -j".
Status refuse_operands(const Words& operands, const std::string& hint);

// Refuses an operand that is not UTF-8. For operands that are sent or compared as text; names of
// files may be of any bytes.
Status refuse_invalid_utf8(const Words& operands);

// Implements main(): returns the exit status of `run` and prints its error.
int run_main(std::string_view program, int argc, char** argv, Result<int> (*run)(const Words&));

// Prints "asub: message" and returns the exit status for the error.
int print_error(std::string_view program, const Error& error);

// How long a command retries while the controller is unavailable.
enum class RetryPolicy {
  none,    // Do not retry, and do not wait long.
  once,    // Do not retry.
  query,   // Retry for half a minute.
  change,  // Retry for as long as a user would wait for a submission.
};

// How to reach the configured controller. A line on standard error reports retries, unless `quiet`.
Result<rpc::ClientOptions> client_options(std::string_view program, const CommonOptions& common,
                                          RetryPolicy policy, bool quiet = false);

// Returns a client of the configured controller. A line on standard error reports retries, unless
// `quiet`.
Result<rpc::Client> open_client(std::string_view program, const CommonOptions& common,
                                RetryPolicy policy, bool quiet = false);

// The current time of the process, for options that take points in time.
Time clock_now();

// 0 if standard output is not a terminal.
unsigned terminal_width();

}  // namespace ares::cli
