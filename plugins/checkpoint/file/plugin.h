// The plugin `file` as programs that are linked with it use it. Immutable; any thread.
#pragma once

#include "plugin/checkpoint_abi.h"

namespace ares::checkpoint::file {

const ares_checkpoint_plugin* plugin();

}  // namespace ares::checkpoint::file
