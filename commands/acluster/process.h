// Processes that outlive the one who starts them: started with a record on disk, found again by it, ended by it.
// Owned by acluster's only thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/users.h"

namespace ares::acluster {

// A process for as long as the machine is up: a pid alone would be used again.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// A record is `pid N` and `start_ticks N` on lines of their own. Nothing if there is none or it is no record.
std::optional<ProcessId> read_record(const std::string& path);
// The control groups in a supervisor's record, separated by ':'; empty where it has none.
std::string recorded_groups(const std::string& path);

bool alive(const ProcessId& process);  // false for a zombie too

// Readable once the process has ended; invalid if it has already.
os::Fd watch(const ProcessId& process);

bool send_signal(const ProcessId& process, int signal);

// Whether it ended within the time.
bool wait_end(const ProcessId& process, std::chrono::milliseconds timeout);

struct Launch {
  std::vector<std::string> argv;  // argv[0] is the path
  std::string folder = "/";
  std::string log;                      // appended to
  std::string record;                   // written before the program begins
  std::optional<os::User> user;         // become it first; none = stay who we are
  std::vector<std::string> namespaces;  // files under /proc/PID/ns to enter first
};

// Starts the program in a session of its own. Errors of the new process up to its exec come back.
Result<ProcessId> launch(const Launch& launch);

}  // namespace ares::acluster
