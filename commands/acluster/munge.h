// The cluster's private munged: a key of its own and a socket of its own, nothing shared with the machine's.
// Used on acluster's only thread.
#pragma once

#include "acluster/layout.h"
#include "acluster/process.h"
#include "base/result.h"

namespace ares::acluster {

// Makes the key once. not_found when munged is not installed.
Status prepare_munge(const Layout& layout);

Launch munge_launch(const Layout& layout);

}  // namespace ares::acluster
