// Jobs that ask for temporary storage where no node counts it. Pure; any thread.
#pragma once

#include <string>

#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// What the user is told of a job that asks for temporary storage, if no node of its partitions knows
// how much it has. Empty: some node does, or the job asks for none.
std::string uncounted_tmp_disk(const ClusterState& state, const JobSpec& spec);

}  // namespace ares::core
