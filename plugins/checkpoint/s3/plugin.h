// The plugin `s3` as tests that are linked with it use it. Immutable; any thread.
#pragma once

#include "plugin/checkpoint_abi.h"

namespace ares::checkpoint::s3 {

const ares_checkpoint_plugin* plugin();

}  // namespace ares::checkpoint::s3
