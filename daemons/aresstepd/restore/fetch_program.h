// Runs acheckpoint for the restore of a job, in a process of its own: what it needs for other places than directories
// cannot be linked statically. Called as the job's user in the process that becomes the script.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ares::stepd {

// Path of acheckpoint in this installation.
std::string fetcher_path();

// Runs the program and waits for it. What it prints but for the last line goes to `complain`; that line is the message of an error.
// data_loss: it exited with 1, the checkpoint is not usable. unavailable: it could not look at the checkpoint.
Status run_fetch(const std::string& program, std::vector<std::string> arguments,
                 std::vector<std::string> variables,
                 const std::function<void(const std::string&)>& complain);

}  // namespace ares::stepd
