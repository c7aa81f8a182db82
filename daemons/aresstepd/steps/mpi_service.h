// MpiService: what the tasks of one step on this node ask their process manager in order to find the
// others. Owned by TaskGroup; one thread. It talks to the other nodes by frames for the step manager.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "steps/exchange.h"
#include "steps/frame.h"

namespace ares::stepd {

class MpiService {
 public:
  using Send =
      std::function<void(steps::FrameKind, std::uint32_t number, std::string_view payload)>;
  // Called once: the tasks may start, or why they cannot.
  using Ready = std::function<void(Status)>;

  virtual ~MpiService() = default;

  // A descriptor that the task is to inherit; none if it needs none.
  virtual Result<os::Fd> connect(std::uint32_t local) = 0;
  // Adds the variables of a task, in place of those of another process manager. `inherited` is the number
  // of that descriptor.
  virtual void describe(std::uint32_t local, int inherited,
                        std::vector<std::string>& environment) const = 0;

  virtual void gathered(const steps::Gathered& exchange) = 0;
  virtual void asked(const steps::Question&) {}
  virtual void answered(const steps::Answer&) {}
  virtual void task_ended(std::uint32_t) {}  // its rank
};

// Removes what another process manager has set, such as that of an enclosing step.
void remove_variables(std::vector<std::string>& environment);

}  // namespace ares::stepd
