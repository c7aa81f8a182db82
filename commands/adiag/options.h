// The options and the documentation of adiag. Owned by main; one thread.
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
