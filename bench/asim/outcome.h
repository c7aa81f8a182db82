// Outcome: the result of each job, and the load of the machine over time. Filled by a Simulation,
// then read by reports. Plain data; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job/job.h"

namespace ares::sim {

struct JobOutcome {
  bool accepted = false;
  JobState state = JobState::pending;           // at the end
  std::optional<Time> start;                    // of the first attempt
  std::optional<Time> end;                      // of the last attempt
  std::uint32_t nodes = 0, cpus = 0, gpus = 0;  // gpus in thousandths
  std::uint32_t restarts = 0;
  bool holds_nodes = false;       // holds nodes now
  bool cpus_released = false;     // its CPUs are released while it is suspended
  std::optional<Time> since;      // start of the running attempt
  Duration ran{};                 // of all attempts
  std::optional<Time> predicted;  // the start predicted for it an hour before it started
};

// Busy resources and waiting jobs over time, averaged over equal spans. The spans are doubled when
// there would be too many.
class History {
 public:
  struct Level {
    double cpus = 0, gpus = 0;        // busy
    double running = 0, waiting = 0;  // jobs
    double lost_gpus = 0;             // free while a job waits for GPUs
  };

  explicit History(Time from) : from_(from) {}
  // The level since the last call.
  void until(Time now, const Level& level);

  Time from() const { return from_; }
  Duration span() const { return span_; }
  // Averages, one for each span; the last span may be shorter.
  std::vector<Level> averages() const;
  // Integrals over all time, in units times seconds.
  const Level& total() const { return total_; }

 private:
  Time from_;
  Duration last_{};  // since from_
  Duration span_{std::chrono::seconds(1)};
  std::vector<Level> sums_;
  Level total_;
};

struct Cost {
  std::uint64_t passes = 0;
  std::uint64_t started_something = 0;  // passes
  double planning = 0;                  // seconds
  double longest_pass = 0;
  double everything = 0;     // seconds of CPU time
  std::uint64_t events = 0;  // of the engine
  std::uint64_t batches = 0;
};

struct Outcome {
  std::vector<JobOutcome> jobs;  // in the order of the workload
  Time begin{}, last_submit{}, end{};
  std::uint64_t machine_cpus = 0, machine_gpus = 0, machine_nodes = 0;
  struct Refusal {
    std::uint64_t jobs = 0;
    std::string first;  // complete message of the first
  };
  std::map<std::string, Refusal> refused;  // key: the controller's message up to the first colon
  std::uint64_t node_failures = 0;
  std::optional<History> history;
  Cost cost;
};

}  // namespace ares::sim
