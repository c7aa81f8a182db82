// Jobs that ask for containers: where they can run. Internal to core/job; pure, engine thread.
#pragma once

#include <string>
#include <vector>

#include "model/job/job.h"

namespace ares::core {

// Whether the job's features lack the one that its containers need.
bool lacks_container_feature(const JobSpec& spec);

// Adds that feature, so that the scheduler gives it such nodes.
void require_container_feature(JobSpec& spec);

}  // namespace ares::core
