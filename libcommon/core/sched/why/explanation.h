// explain_job(): the complete reasons why one job waits, and the smallest changes that would let it
// start now. Runs the scheduler's own pass up to the job and tests changed jobs on the state at
// that point. Each reported change was then checked with a complete pass in which the job starts.
// Pure; any thread. Costs a few passes of the planner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sched/pass/plan.h"
#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// A planned start of another job that this job would delay.
struct DelayedStart {
  JobKey job;
  Time start{};
  std::vector<NodeId> nodes;  // those that this job could use now
};

struct WaitCause {
  Reason reason = Reason::none;
  std::string partition;  // the partition concerned; empty: all
  std::string text;       // with numbers
  std::optional<Time> until;
  std::vector<DelayedStart> delays;
  // For Reason::limit: the name of the limit as shown to users.
  std::string limit{};
};

struct SuggestedChange {
  // In the form that asub accepts, for example "--mem=30G".
  std::string text;
  // Why the change helps, if that is not obvious.
  std::string note;
  Job job;  // the record with the change
};

struct PriorityFactor {
  std::string_view name;
  double weight = 0;
  double value = 0;  // 0 to 1
  double weighted = 0;
};

// Priority of the job in its first partition.
struct PriorityExplanation {
  QueuePolicy policy = QueuePolicy::priority;
  // Computed with multifactor; otherwise the value that was set.
  std::uint32_t value = 0;
  bool set = false;                     // by an operator
  std::vector<PriorityFactor> factors;  // with multifactor
  // With other policies: the sort key.
  std::string standing;
};

struct JobExplanation {
  bool starts_now = false;        // nothing keeps it from starting
  std::vector<WaitCause> causes;  // all of them
  std::uint32_t jobs_ahead = 0;
  std::optional<Time> start;  // expected start
  // Other jobs come before it and were not taken into account.
  bool at_the_earliest = false;
  std::vector<NodeId> nodes;  // expected nodes, as far as known
  PriorityExplanation priority;
  // Each is sufficient alone; the smallest of its kind.
  std::vector<SuggestedChange> changes;
  bool cut = false;  // the search for changes was not finished
};

struct ExplainBudget {
  std::uint64_t pass_units = 10'000'000;  // of one pass, see Budget
  // Of all tests of changes together; one unit is one node examined.
  std::uint64_t what_if_units = 10'000'000;
  // Of the passes that check changes, counted in jobs and nodes of these passes.
  std::uint64_t check_units = 400'000;
};

// Precondition: the job is pending in the state. `known`: the reason that the scheduler set, or
// null.
JobExplanation explain_job(const ClusterState& state, const Policy& policy, const Job& job,
                           const PendingInfo* known, Time now, const ExplainBudget& budget = {});

}  // namespace ares::core
