// The cluster's private munged, with its own key and socket; nothing is shared with the machine's
// munged. Used on acluster's only thread.
#pragma once

#include "acluster/layout.h"
#include "acluster/process.h"
#include "base/result.h"

namespace ares::acluster {

// Creates the key if it does not exist. Returns not_found if munged is not installed.
Status prepare_munge(const Layout& layout);

Launch munge_launch(const Layout& layout);

}  // namespace ares::acluster
