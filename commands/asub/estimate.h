// The output of asub --test-only. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "proto/gen/api.pb.h"

namespace ares::asub {

// "Job would start at 2030-05-17T10:00:00 on nodes n[1-2] in partition main with 8 CPUs". If the
// job would not start at once, also the reasons in the format of aqueue --why, wrapped at `width`
// (0 = not wrapped).
std::string describe_estimate(const api::Estimate& estimate, std::size_t width = 0);

}  // namespace ares::asub
