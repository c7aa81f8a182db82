// Placement: which CPUs of a job its steps occupy, and where the tasks of a new step run. Owned by the
// step manager; no I/O; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "steps/request.h"

namespace ares::steps {

// A node of the job. Its CPUs are known by position only: 0 to cpus - 1.
struct JobNode {
  std::string name;
  std::uint32_t cpus = 0;
  std::uint32_t tasks = 0;  // as the job was laid out
};

class Placement {
 public:
  explicit Placement(std::vector<JobNode> nodes);

  const std::vector<JobNode>& nodes() const { return nodes_; }

  // Where the step runs. failed_precondition: other steps have the CPUs, and it can be placed when they
  // have ended; the text says what to do about it. Any other error: it can never run in this job.
  Result<StepLayout> place(const StepRequest& request) const;

  // Occupies what the layout names. Steps with --overlap occupy nothing: they are not told here.
  void occupy(const StepLayout& layout);
  void release(const StepLayout& layout);

 private:
  struct Choice {
    std::uint32_t node;
    std::uint32_t room;  // tasks that fit
  };
  Result<std::vector<Choice>> eligible(const StepRequest& request) const;
  std::uint32_t free_cpus(std::uint32_t node) const;
  std::uint32_t room(const StepRequest& request, std::uint32_t cpus) const;
  std::vector<std::uint32_t> cpus_for(const StepRequest& request, std::uint32_t node,
                                      std::uint32_t tasks) const;

  std::vector<JobNode> nodes_;
  std::vector<std::vector<bool>> busy_;  // by node and position
};

}  // namespace ares::steps
