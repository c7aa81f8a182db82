// The options of abcast. Owned by main(); plain values.
#pragma once

#include <string>

#include "cli/options/common_options.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::abcast {

struct Wanted {
  bool force = false;
  bool preserve = false;
  std::string job;
  cli::CommonOptions common;
};

cli::OptionTable options(Wanted& wanted);
cli::Manual manual();

}  // namespace ares::abcast
