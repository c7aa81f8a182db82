// Workload: the jobs with their users, submit times and real run times; and which entries of the
// source were skipped, and why. Read completely before a run, then immutable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "model/job/job.h"

namespace ares::sim {

struct WorkJob {
  std::uint64_t number = 0;      // in the source
  Seconds submit{};              // since the workload's origin
  Seconds run{};                 // on the nodes that it gets, unless it is ended before
  std::optional<Seconds> limit;  // as requested by the user; nullopt = not in the log
  std::uint32_t user = 0;        // in the workload's own numbering
  std::uint32_t tasks = 1;
  Bytes memory_per_cpu{};        // 0 = not requested
  std::uint32_t spec_index = 0;  // in Workload::specs
  std::uint32_t gang =
      0;  // starts together with the others of this number; the specification has the size; 0 = no gang
};

struct Workload {
  std::string name;
  Time origin{};               // of all submit times
  bool has_times = true;       // else only requests are known, and there is nothing to replay
  std::vector<WorkJob> jobs;   // ascending submit time, then number
  std::vector<JobSpec> specs;  // all other requests of jobs; most logs need only one
  std::map<std::string, std::uint64_t> left_out;  // reason, and number of jobs
  std::map<std::string, std::uint64_t> notes;     // unusual interpretations, and how many

  // Size of the machine from the log; 0 = unknown.
  std::uint32_t machine_nodes = 0;
  std::uint64_t machine_cpus = 0;
};

// Sorts jobs by submit time and drops all after the first `most` (0 = keeps all).
void sort_and_limit(Workload& workload, std::uint64_t most);

}  // namespace ares::sim
