// Processes that outlive the process that starts them. A record on disk identifies a process so
// that it can be found and ended later. Owned by acluster's only thread.
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

// Identifies a process until the machine reboots. A pid alone may be reused.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // Field 22 of /proc/PID/stat.
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// A record has the lines `pid N` and `start_ticks N`. Returns nothing if the file is missing or is
// not a record.
std::optional<ProcessId> read_record(const std::string& path);
// The process above a supervisor, in its record; nothing if it has none.
std::optional<ProcessId> recorded_reaper(const std::string& path);
// The control groups in a supervisor's record, separated by ':'; empty if it has none.
std::string recorded_groups(const std::string& path);

bool alive(const ProcessId& process);  // False for a zombie too.

// A descriptor that becomes readable when the process ends; invalid if it has already ended.
os::Fd watch(const ProcessId& process);

bool send_signal(const ProcessId& process, int signal);

// Returns whether the process ended within the time.
bool wait_end(const ProcessId& process, std::chrono::milliseconds timeout);

struct Launch {
  std::vector<std::string> argv;  // argv[0] is the path.
  std::string folder = "/";
  std::string log;                      // Output is appended to this file.
  std::string record;                   // Written before the program begins.
  std::optional<os::User> user;         // User to switch to; none = keep the user.
  std::vector<std::string> namespaces;  // Files under /proc/PID/ns to enter first.
};

// Starts the program in a new session. Errors of the new process up to its exec are returned.
Result<ProcessId> launch(const Launch& launch);

}  // namespace ares::acluster
