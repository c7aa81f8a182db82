// ServiceSupervisor: starts what is not running, in order; and as a supervisor starts again what ends, with back-off.
// Owned by acluster's only thread; a supervisor is a process of its own.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "acluster/layout.h"
#include "acluster/services.h"
#include "base/result.h"

namespace ares::acluster {

class ServiceSupervisor {
 public:
  ServiceSupervisor(Layout layout, std::vector<Service> services);

  // Starts what does not run and may start now. True when everything runs.
  bool start_missing();

  // For --no-supervise: until everything runs. An error names what could not be started.
  Status start_all(std::chrono::milliseconds timeout);

  // For the supervisor: until SIGTERM or SIGINT, then ends everything. Returns the exit status.
  int supervise();

 private:
  using Clock = std::chrono::steady_clock;
  struct SupervisedService {
    Service service;
    std::optional<ProcessId> process;
    os::Fd ended;  // readable when it has
    Clock::time_point since{};
    Clock::time_point not_before{};
    std::chrono::milliseconds delay{0};
  };

  void note_exits();
  void start(SupervisedService& supervised);
  Clock::time_point next_check() const;

  Layout layout_;
  std::vector<SupervisedService> services_;
  std::optional<Error> last_error_;
};

}  // namespace ares::acluster
