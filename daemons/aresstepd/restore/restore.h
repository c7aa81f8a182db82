// Before the batch script of a job that makes checkpoints: its directory, and the checkpoint that it begins from.
// Called as the job's user in the process that becomes the script.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/engine/node_message.h"

namespace ares::stepd {

struct Restore {
  std::string directory;  // what the job begins from; empty: from its start
  std::string temporary;  // directory that holds it and is to be removed after the job; empty: none
  std::uint64_t sequence = 0;     // of the checkpoint; 0: none
  std::uint32_t passed_over = 0;  // newer ones that cannot be used
};

// Makes the job's directory if it is missing, and returns the newest committed checkpoint whose manifest and files are
// what was committed. One that is not in a directory is copied to one in TMPDIR of `variables`, or /tmp, by `fetcher`, the path of
// acheckpoint, which gets these variables. `complain` gets a line for each that is passed over. An error: one may be intact,
// but cannot be looked at now.
Result<Restore> find_checkpoint(const LaunchSpec& launch, const std::vector<std::string>& variables,
                                const std::string& fetcher,
                                const std::function<void(const std::string&)>& complain);

}  // namespace ares::stepd
