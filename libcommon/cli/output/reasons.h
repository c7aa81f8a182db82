// What the states and reasons of jobs mean, for aqueue --why and ares-reasons(7). The reasons of limits are in
// core/accounts/limits/limit_reason_list.h. Constant data; any thread.
#pragma once

#include <span>
#include <string_view>

#include "model/job/job.h"

namespace ares::cli {

struct ReasonMeaning {
  Reason reason;
  bool waits;             // of a job that waits; else why it ended, or runs no more
  std::string_view text;  // continues "Job 12": "waits its turn"
};
// One for each reason, in their order.
std::span<const ReasonMeaning> reason_meanings();
// The text for a reason by its name; empty: it is none of these.
std::string_view meaning_of_reason(std::string_view name);

struct StateMeaning {
  JobState state;
  std::string_view text;
};
// One for each state, in their order.
std::span<const StateMeaning> state_meanings();

struct NodeStateMeaning {
  std::string_view name, text;
};
// The states of nodes that ainfo and actl show.
std::span<const NodeStateMeaning> node_state_meanings();

}  // namespace ares::cli
