// What aprio is asked on its command line, and what it says about itself.
// Owned by main; one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options/frame.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "proto/gen/api.pb.h"

namespace ares::aprio {

struct Query {
  cli::CommonOptions common;
  api::ListPriorities filter;
  bool normalised = false;  // factors from 0 to 1 in place of points
  bool weights = false;     // only what each factor weighs
  bool wide = false;
  bool no_header = false;
  bool json = false;
};

cli::OptionTable options(Query& query);
cli::Manual manual();

}  // namespace ares::aprio
