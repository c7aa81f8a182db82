// Waits of the agent at its start and its end, in which its client works. Used by the thread that owns the client.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/api/object_watch.h"

namespace ares::kubernetes {

// What has deadlines of its own meanwhile, such as a lease that has to be renewed.
class Meanwhile {
 public:
  virtual ~Meanwhile() = default;
  virtual std::optional<BootTime> next_deadline() const = 0;
  virtual void dispatch() = 0;
  virtual const std::string& failure() const = 0;  // not empty: the wait is in vain
};

// What works meanwhile, and what ends the wait early.
struct Wait {
  ApiClient& client;
  int stop_fd = -1;  // of exec::NodeEvents
  std::vector<ObjectWatch*> watches{};
  Meanwhile* lease = nullptr;
  std::optional<Duration> most = std::chrono::minutes(1);
};

// Until `is_done`. unavailable: it is not, and why; `what` completes "no answer about ...". failed_precondition: the process is to end,
// or another agent holds the lease.
Status run_until(const Wait& wait, const std::function<bool()>& is_done, const std::string& what);

}  // namespace ares::kubernetes
