// Before the batch script of a job that makes checkpoints: its directory, and the checkpoint that it begins from.
// Called as the job's user in the process that becomes the script.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "model/engine/node_message.h"

namespace ares::stepd {

// Makes the job's directory if it is missing, and returns the newest committed checkpoint whose manifest and files are
// what was committed; "" if there is none. `complain` gets a line for each that is passed over.
Result<std::string> find_checkpoint(const LaunchSpec& launch,
                                    const std::function<void(const std::string&)>& complain);

}  // namespace ares::stepd
