// What asub says about itself: --help and its manual page. A value; any thread.
#pragma once

#include "cli/options/manual.h"

namespace ares::asub {

const cli::Manual& manual();

}  // namespace ares::asub
