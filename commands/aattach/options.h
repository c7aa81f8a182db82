// The options of aattach. Owned by main(); plain values.
#pragma once

#include <cstdint>
#include <string>

#include "arun/options.h"
#include "cli/options/common_options.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::aattach {

struct Asked {
  std::string input, output, errors;      // filters, as given
  std::uint32_t input_rank = UINT32_MAX;  // of --input-filter; or all
  bool label = false;
  bool pty = false;
  bool layout = false;
  bool quiet = false;
  cli::CommonOptions common;
};

cli::OptionTable options(Asked& asked);
cli::Manual manual();

struct Target {
  std::string job;
  std::uint32_t step = 0;
};
// "4711.0" or "4711_3.0".
Result<Target> parse_target(const std::string& text);

// What is shown and passed on, of the filters.
Result<arun::Streams> streams_of(const Asked& asked);

}  // namespace ares::aattach
