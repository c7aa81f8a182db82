// Limits on a job by itself, whatever else runs: MaxTRESPerJob, MaxTRESPerNode, MaxTRESMinsPerJob, MaxWall, MinTRESPerJob.
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "core/accounts/roster.h"
#include "model/job.h"
#include "model/node.h"

namespace ares::core {

// Kinds that jobs are held to in this release. Others cannot be set: a limit that nobody enforces would be believed.
bool is_enforced(LimitKind kind);

struct OverLimit {
  std::string name;     // as users know the reason: "AssocMaxCpuPerJobLimit"
  std::string text;     // what the limit is, whose, and what the job asks for
  bool refuse = false;  // its QOS wants such jobs refused (DenyOnLimit)
};

// The first limit that the job is over in that partition with that time limit (none = unlimited), in this order: its QOS, its user
// in the account, the account, those above it. Of one kind and TRES the first that is set holds, as BEHAVIOUR 4.10 has it. What a
// job asks for is what its specification says for the fewest nodes. Nothing unless limits are enforced.
std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce, const JobSpec& spec,
                                    const Partition& partition, std::optional<Seconds> time_limit);

}  // namespace ares::core
