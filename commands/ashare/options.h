// The options and the manual of ashare. Owned by main; one thread.
#pragma once

#include "ashare/query.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::ashare {

cli::OptionTable options(Query& query);
cli::Manual manual();

}  // namespace ares::ashare
