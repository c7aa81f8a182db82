// The programs of --prolog and --epilog, which run beside the step where arun does. Main thread of arun.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ares::arun {

// A program of the user, run where arun runs.
struct BesideProgram {
  std::string path;    // empty: nothing runs
  const char* option;  // that names it, for messages
};

// Runs the program with the words of the step as its arguments and waits for it; its signals are as arun was started with. A
// failure is said, and the step goes on. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to it. Returns the first of these,
// which asks arun to end.
std::optional<int> run_beside(const BesideProgram& program, const std::vector<std::string>& words,
                              std::vector<std::string> environment);

}  // namespace ares::arun
