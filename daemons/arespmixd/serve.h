// Serves PMIx to the ranks of one step on one node, as its daemon says. Called once; the library of PMIx
// has a thread of its own, all else is one thread.
#pragma once

#include "arespmixd/channel.h"
#include "base/result.h"

namespace ares::pmixd {

// Until the daemon closes the connection.
Status serve(Channel& channel);

}  // namespace ares::pmixd
