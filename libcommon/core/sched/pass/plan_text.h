// A plan as text, whole and in one order: to compare plans, and for a digest that tells on another machine whether one is the same.
// Pure; any thread.
#pragma once

#include <string>

#include "model/engine/plan.h"

namespace ares::core {

// A line for each start, in the order in which they are proposed, then one for each job that waits, then when time alone changes it.
// Who may begin to gain age is no part of it: that is looked at from time to time.
std::string plan_text(const Plan& plan);

}  // namespace ares::core
