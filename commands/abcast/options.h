// The options of abcast. Owned by main(); plain values.
#pragma once

#include <cstddef>
#include <string>

#include "cli/options/common_options.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::abcast {

struct Wanted {
  bool force = false;
  bool preserve = false;
  bool compress = false;
  std::size_t part = 0;  // most bytes of one message; 0: as many as fit
  std::string job;
  cli::CommonOptions common;
};

cli::OptionTable options(Wanted& wanted);
cli::Manual manual();

}  // namespace ares::abcast
