// Interactive and script modes: commands from standard input, one per line. Owned by aacctmgr's
// main thread.
#pragma once

#include "aacctmgr/command.h"

namespace ares::aacctmgr {

int interact(Context& context);

}  // namespace ares::aacctmgr
