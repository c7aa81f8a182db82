// Starts a program that serves a daemon: without a shell, with given descriptors and environment, and with nothing else of the caller.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::os {

struct ProgramFiles {
  int input = -1;   // its standard input; -1: /dev/null
  int output = -1;  // its standard output; -1: /dev/null. Standard error is /dev/null.
};

// words[0] is an absolute path. The program leads a process group of its own, works in /, and has no signal blocked or ignored.
// `environment`: NAME=value. not_found: the program does not exist. unavailable: other errors of the system. Any thread.
Result<pid_t> spawn_program(const std::vector<std::string>& words, const ProgramFiles& files,
                            const std::vector<std::string>& environment);

}  // namespace ares::os
