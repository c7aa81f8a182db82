// The options of aalloc: those of an allocation, and its own. Owned by main(); plain values.
#pragma once

#include <optional>

#include "base/time.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "step_client/allocation.h"
#include "submission/submission.h"

namespace ares::aalloc {

struct Wanted {
  submission::Submission job;
  bool shell = true;                 // run a command; else the allocation stays without one
  std::optional<Seconds> immediate;  // the longest wait
  std::optional<int> kill_command;   // signal for the command when the allocation is gone
  step_client::Bell bell = step_client::Bell::after_a_wait;
};

cli::OptionTable options(Wanted& wanted, Time now);
cli::Manual manual();

}  // namespace ares::aalloc
