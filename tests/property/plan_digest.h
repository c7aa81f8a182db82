// Digests of plans by their structure: jobs, nodes, devices, times and reasons as numbers, and
// names chosen by users. They contain no prose and no identifiers of the program, so that rewording
// and renaming do not change them. For tests only; single thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/sched/pass/plan.h"

namespace ares::property {

// The plan as text, with one line for each start, preemption, resumption and pending job.
std::string structure_of(const Plan& plan);

class PlanDigests {
 public:
  // `folder`: where the structures of the plans are written as files, for a comparison by diff;
  // empty = nowhere.
  explicit PlanDigests(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // Plans this state with a new planner.
  void view(const std::string& name, const ClusterState& state, const Policy& policy,
            const core::Budget& budget, Time now);
  // Adds a plan to the digest of a series, in which each plan leads to the next state.
  void add_to_series(const std::string& name, const Plan& plan);

  // One line for each digest, ascending: the name, the digest of the plan, and, for a view, the
  // digest of its state.
  std::string text() const;
  std::size_t views() const { return inputs_.size(); }
  // How many lines of each kind the structures of series and views have, by letter.
  const std::map<char, std::uint64_t>& lines() const { return lines_; }
  // How often jobs wait for each reason in them.
  const std::map<unsigned, std::uint64_t>& reasons() const { return reasons_; }

 private:
  // The structure of the plan; also counts its lines.
  std::string counted(const Plan& plan);

  std::filesystem::path folder_;
  std::map<std::string, std::uint64_t> plans_, inputs_;
  std::map<char, std::uint64_t> lines_;
  std::map<unsigned, std::uint64_t> reasons_;
};

std::uint64_t digest_of(std::string_view text, std::uint64_t before = 0xcbf29ce484222325ULL);

// Adds the views: random lives of small clusters (digest_lives.cc), and replayed logs
// (digest_logs.cc).
void add_random_lives(PlanDigests& out);
void add_recorded_logs(PlanDigests& out);

}  // namespace ares::property
