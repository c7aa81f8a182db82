// The command line options of asim, their help text and manual page.
// Owned by main; one thread.
#pragma once

#include <string>
#include <vector>

#include "asim/simulation.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::sim {

struct CommandLine {
  std::string cluster;
  std::vector<std::string> policy;  // KEY=VALUE
  std::string view;                 // file; empty = a workload is run
  std::string out;                  // folder; empty = no files
  std::uint64_t jobs = 0;           // 0 = all
  double load = 1;
  SimOptions sim;
  bool json = false;
  bool help = false, version = false;
};

cli::OptionTable table_of(CommandLine& command_line);
cli::Manual manual();

}  // namespace ares::sim
