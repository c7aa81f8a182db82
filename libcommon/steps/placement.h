// Placement: which CPUs and GPUs of a job its steps occupy, and where the tasks of a new step run. Owned by the
// step manager; no I/O; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "steps/request.h"

namespace ares::steps {

// A node of the job. Its CPUs and GPUs are known by position only: 0 to cpus - 1.
struct JobNode {
  std::string name;
  std::uint32_t cpus = 0;
  std::uint32_t tasks = 0;  // as the job was laid out
  std::uint32_t gpus = 0;
};

class Placement {
 public:
  explicit Placement(std::vector<JobNode> nodes);

  const std::vector<JobNode>& nodes() const { return nodes_; }

  // Where the step runs. failed_precondition: other steps have the CPUs or GPUs, and it can be placed when they
  // have ended; the text says what to do about it. Any other error: it can never run in this job.
  Result<StepLayout> place(const StepRequest& request) const;

  // Occupies what the layout names. Steps with --overlap occupy nothing: they are not told here.
  void occupy(const StepLayout& layout);
  void release(const StepLayout& layout);

 private:
  struct Choice {
    std::uint32_t node;
    std::uint32_t room;  // tasks that fit
    std::uint32_t gpus;  // that the step could have
  };
  Result<std::vector<Choice>> eligible(const StepRequest& request) const;
  static std::uint32_t room(const StepRequest& request, std::uint32_t cpus, std::uint32_t gpus);
  static bool choose_nodes(const StepRequest& request, std::uint32_t tasks,
                           std::vector<Choice>& choices);
  Status must_wait(const StepRequest& request) const;
  bool divide_gpus(const StepRequest& request, const std::vector<std::uint32_t>& counts,
                   const std::vector<Choice>& choices, StepLayout& layout) const;
  std::vector<std::uint32_t> gpus_for(const StepRequest& request, std::uint32_t node,
                                      std::uint32_t count) const;
  std::vector<std::uint32_t> cpus_for(const StepRequest& request, std::uint32_t node,
                                      std::uint32_t tasks) const;

  std::vector<JobNode> nodes_;
  std::vector<std::vector<bool>> busy_, busy_gpus_;  // by node and position
};

}  // namespace ares::steps
