// The log of a daemon: standard error, or a file that is opened again when it was moved away.
// Started once, by main, before any thread exists; reopen_log() from any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace ares {

struct LogSetup {
  std::string name;     // of the daemon
  std::string file;     // empty = standard error
  std::string level;    // "info"
  std::string pattern;  // of a line, as spdlog writes it
};

// invalid_argument: the file cannot be written.
Status start_log(const LogSetup& setup);

// Goes on in the file that has the log's name now, and makes one if there is none, as after `logrotate`. If that fails, goes
// on in the file of before. Nothing to do for a log on standard error.
Status reopen_log();

}  // namespace ares
