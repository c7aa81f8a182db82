// aqueue --steps: the steps that run, a line for each. Owned by aqueue's main thread.
#pragma once

#include <cstdint>
#include <string>

#include "aqueue/query.h"
#include "base/result.h"
#include "cli/output/running_steps.h"

namespace ares::aqueue {

// Options that list jobs and say nothing about steps are refused, not ignored.
Status check_for_steps(const Query& query);

// `uid` is the caller's.
api::ListUse use_filter_of(const Query& query, std::uint32_t uid);

// The lines, with the columns of Slurm.
std::string list_steps(const Query& query, const api::RunningUse& use);

}  // namespace ares::aqueue
