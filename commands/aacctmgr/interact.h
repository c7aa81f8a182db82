// Commands one a line.
// Owned by aacctmgr's main thread.
#pragma once

#include "aacctmgr/command.h"

namespace ares::aacctmgr {

int interact(Context& context);

}  // namespace ares::aacctmgr
