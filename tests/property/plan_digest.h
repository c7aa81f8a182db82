// Digests of plans by their structure: jobs, nodes, devices, times and reasons as numbers, and
// names of users' own choice. They contain no prose and no names of the program, so that rewording
// and renaming leave them as they are. For tests only; single thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/sched/pass/plan.h"

namespace ares::property {

// The plan as text, one line for each start, preemption, resumption and waiting job.
std::string structure_of(const Plan& plan);

class PlanDigests {
 public:
  // `folder`: where the structures of the plans are written as files, for a comparison by diff;
  // empty = nowhere.
  explicit PlanDigests(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // Plans the state with a new planner.
  void view(const std::string& name, const ClusterState& state, const Policy& policy,
            const core::Budget& budget, Time now);
  // Adds a plan to the digest of a series, in which one plan leads to the next state.
  void add_to_series(const std::string& name, const Plan& plan);

  // One line for each digest, ascending: the name, the digest of the plan, and, of a view, that of
  // the state it was made from.
  std::string text() const;
  std::size_t views() const { return inputs_.size(); }
  // How often each kind of line stands in the structures of series and views, by its letter.
  const std::map<char, std::uint64_t>& lines() const { return lines_; }
  // How often jobs wait there for each reason.
  const std::map<unsigned, std::uint64_t>& reasons() const { return reasons_; }

 private:
  // The structure, which is counted.
  std::string counted(const Plan& plan);

  std::filesystem::path folder_;
  std::map<std::string, std::uint64_t> plans_, inputs_;
  std::map<char, std::uint64_t> lines_;
  std::map<unsigned, std::uint64_t> reasons_;
};

std::uint64_t digest_of(std::string_view text, std::uint64_t before = 0xcbf29ce484222325ULL);

// The views: random lives of small clusters (digest_lives.cc), and recorded logs that are run again
// (digest_logs.cc).
void add_random_lives(PlanDigests& out);
void add_recorded_logs(PlanDigests& out);

}  // namespace ares::property
