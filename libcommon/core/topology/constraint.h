// The constraint on links between a request's GPUs, under the names that this folder uses.
#pragma once

#include "model/job/gpu_constraint.h"

namespace ares::core::topology {

using Shape = GpuShape;
using Constraint = GpuConstraint;

}  // namespace ares::core::topology
