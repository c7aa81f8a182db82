// What `actl top` changes so that a job is served before the others of its user.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Jobs that get this nice value.
struct NiceChange {
  std::int32_t nice = 0;
  std::vector<api::JobRef> jobs;
};

// `pending`: the pending jobs of its user, with their specifications. Only those of the same account, QOS and partitions step back, all by
// the same, so that their order stays. Empty: it is the first already. `queue_policy`: that of its partition.
// failed_precondition: nice values do not decide there, or the job is held or no longer pending.
Result<std::vector<NiceChange>> nice_for_top(const api::Job& job, const api::Jobs& pending,
                                             const std::string& queue_policy);

}  // namespace ares::actl
