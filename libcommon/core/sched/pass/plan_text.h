// A complete plan as text in a fixed order, to compare plans and to compute digests that are the
// same on every machine.
// Pure; any thread.
#pragma once

#include <string>

#include "model/engine/plan.h"

namespace ares::core {

// One line for each start, in the proposed order, then one for each waiting job, then the time at
// which the plan may change with time alone. Proposals for age accrual are left out, because they
// are made only from time to time.
std::string plan_text(const Plan& plan);

}  // namespace ares::core
