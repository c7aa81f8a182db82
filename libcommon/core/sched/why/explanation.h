// explain_job(): why one job waits, in full, and the smallest changes that would let it start now. The scheduler's own pass is run up
// to the job's turn, and changed jobs are tried on what it has left; what is told was then planned whole and seen to start.
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

// A start promised to another job that this one would delay.
struct DelayedStart {
  JobKey job;
  Time start{};
  std::vector<NodeId> nodes;  // of those that this one could have now
};

struct WaitCause {
  Reason reason = Reason::none;
  std::string partition;  // where it is so; empty = everywhere
  std::string text;       // with numbers
  std::optional<Time> until;
  std::vector<DelayedStart> delays;
  std::string limit{};  // of Reason::limit, as users know it
};

struct SuggestedChange {
  std::string text;  // as asub takes it: "--mem=30G"
  std::string note;  // why that does it, where it is not plain
  Job job;           // the record with the change
};

struct PriorityFactor {
  std::string_view name;
  double weight = 0;
  double value = 0;  // 0 to 1
  double weighted = 0;
};

// Where it stands in its first partition.
struct PriorityExplanation {
  QueuePolicy policy = QueuePolicy::priority;
  std::uint32_t value = 0;              // computed, with multifactor; else what it was given
  bool set = false;                     // by an operator
  std::vector<PriorityFactor> factors;  // of multifactor
  std::string standing;                 // of other policies: what it is sorted by
};

struct JobExplanation {
  bool starts_now = false;        // nothing stands in its way
  std::vector<WaitCause> causes;  // all there are
  std::uint32_t jobs_ahead = 0;
  std::optional<Time> start;     // expected
  bool at_the_earliest = false;  // others wait before it, and were not reckoned with
  std::vector<NodeId> nodes;     // where, as far as it is known
  PriorityExplanation priority;
  std::vector<SuggestedChange> changes;  // each by itself is enough; the smallest of its kind
  bool cut = false;                      // the search for them was not finished
};

struct ExplainBudget {
  std::uint64_t pass_units = 10'000'000;     // of one pass, see Budget
  std::uint64_t what_if_units = 10'000'000;  // of all trials of changes; a node looked at is one
  std::uint64_t check_units = 400'000;  // of passes that check what was found: jobs and nodes there
};

// Precondition: the job is pending in the state. `known`: what the scheduler has said of it, or null.
JobExplanation explain_job(const ClusterState& state, const Policy& policy, const Job& job,
                           const PendingInfo* known, Time now, const ExplainBudget& budget = {});

}  // namespace ares::core
