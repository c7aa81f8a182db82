// The files and directories of a job that its variables name. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "model/engine/node_message.h"

namespace ares::node {

// The job's own directory for its checkpoints, the same for all attempts; empty: it makes none.
std::string checkpoint_directory(const LaunchSpec& launch);

// The file that says by when an attempt is killed: "1732470000 TIMEOUT". `directory` is the attempt's.
std::string deadline_file(std::string_view directory);

// The file that ARES_HOSTFILE names, for mpirun and others that want one; whether the attempt has it, and
// what is in it.
std::string host_file(std::string_view directory);
bool has_host_file(const LaunchSpec& launch);
std::string host_file_text(const LaunchSpec& launch);

}  // namespace ares::node
