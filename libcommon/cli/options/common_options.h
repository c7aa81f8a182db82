// The options that every command has: --config, --help, --version. Owned by a command's main thread.
#pragma once

#include <string>

#include "cli/options/options.h"

namespace ares::cli {

struct CommonOptions {
  std::string config;  // --config
  bool help = false;
  bool version = false;
};

// Adds the rows --config, --help, --version. `help_letter` is 0 where -h means something else.
void add_common_options(OptionTable& table, CommonOptions& common, char help_letter = 'h');

}  // namespace ares::cli
