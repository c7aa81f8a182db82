// What adiag is asked on its command line, and what it says about itself.
// Owned by main; one thread.
#pragma once

#include "cli/options/frame.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::adiag {

struct Query {
  cli::CommonOptions common;
};

cli::OptionTable options(Query& query);
cli::Manual manual();

}  // namespace ares::adiag
