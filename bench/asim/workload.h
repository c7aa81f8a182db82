// Workload: who submitted what, when, and how long it really ran; and what of its source was left out, and why.
// Read whole before a run, then immutable.
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
  std::uint64_t number = 0;      // in its source
  Seconds submit{};              // since the workload's origin
  Seconds run{};                 // on the nodes it gets, if nobody ends it before
  std::optional<Seconds> limit;  // as its user asked; none = the log does not know
  std::uint32_t user = 0;        // in the workload's own numbering
  std::uint32_t tasks = 1;
  Bytes memory_per_cpu{};        // 0 = not asked
  std::uint32_t spec_index = 0;  // in Workload::specs
  std::uint32_t gang =
      0;  // starts with the others of this number, of whom the form says how many; 0 = alone
};

struct Workload {
  std::string name;
  Time origin{};          // of all submit times
  bool has_times = true;  // else only what is asked for is known, and there is nothing to replay
  std::vector<WorkJob> jobs;   // ascending submit time, then number
  std::vector<JobSpec> specs;  // everything else that jobs ask for; most logs have one
  std::map<std::string, std::uint64_t> left_out;  // why, and how many
  std::map<std::string, std::uint64_t> notes;     // what was read in some way worth telling

  // Of the machine, as the log says; 0 = it does not.
  std::uint32_t machine_nodes = 0;
  std::uint64_t machine_cpus = 0;
};

// Puts jobs into the order in which they are submitted and drops all behind the first `most` (0 = keeps all).
void sort_and_limit(Workload& workload, std::uint64_t most);

}  // namespace ares::sim
