// ServiceSupervisor: starts the services that do not run, in order. In supervise() it also restarts
// services that end, with back-off. Owned by acluster's only thread; a supervisor is a separate
// process.
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

  // Starts all services that do not run and may start now. Returns true if everything runs.
  bool start_missing();

  // For --no-supervise: returns when everything runs. An error names the services that could not be
  // started.
  Status start_all(std::chrono::milliseconds timeout);

  // Runs until SIGTERM or SIGINT, then ends all services. Returns the exit status.
  int supervise();

 private:
  using Clock = std::chrono::steady_clock;
  struct SupervisedService {
    Service service;
    std::optional<ProcessId> process;
    os::Fd ended;  // Readable when the process has ended.
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
