// What asub --test-only says.
// Pure; any thread.
#pragma once

#include <string>

#include "proto/gen/api.pb.h"

namespace ares::asub {

// "Job would start at 2030-05-17T10:00:00 on nodes n[1-2] in partition main with 8 CPUs".
std::string describe_estimate(const api::Estimate& estimate);

}  // namespace ares::asub
