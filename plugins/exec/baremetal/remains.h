// Kills what a dead supervisor left of its attempt, and finds out whether that is proven to have ended.
// Called on the backend's thread.
#pragma once

#include <string>

#include "exec/baremetal/file_spool.h"
#include "node/supervisors.h"

namespace ares::exec {

struct NodeOfSpool {
  std::string name;
  std::string boot_id;        // of the machine
  std::string config;         // for --config of aresd; empty = the default file
  std::string private_tmp{};  // in which each job gets a /tmp of its own; empty = none does
};

// Proofs are the end of the pid namespace, the record `gone`, and a restart of the machine. Without one
// the answer is `unknown`: only processes with $ARES_ATTEMPT_DIR in their environment can be found.
node::Remains end_remains(const FileSpool& spool, const AttemptKey& key, const NodeOfSpool& node);

}  // namespace ares::exec
