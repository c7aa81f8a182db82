// How well a job used what it had, from its row in accounting. Pure functions; any thread.
#pragma once

#include <string>

#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::aeff {

// Lines of "name: value", as Slurm's seff prints them, and one for GPUs. `now` ends the time of a job that
// still runs. What is not measured is said to be so.
std::string describe(const api::AccountingRow& row, const std::string& cluster, Time now);

}  // namespace ares::aeff
