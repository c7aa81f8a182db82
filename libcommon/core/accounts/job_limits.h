// Limits on a job by itself, whatever else runs: MaxTRESPerJob, MaxTRESPerNode, MaxTRESMinsPerJob, MaxWall, MinTRESPerJob.
// Pure functions; any thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/accounts/roster.h"
#include "model/job.h"
#include "model/node.h"

namespace ares::core {

// Kinds that jobs are held to in this release. Others cannot be set: a limit that nobody enforces would be believed.
bool is_enforced(LimitKind kind);

// What a job gets, node by node, under the names of accounting: GPUs in thousandths, memory in MiB.
using TresByNode = std::vector<std::map<std::string, std::uint64_t, std::less<>>>;
// Of shares that were chosen.
TresByNode amounts_of(const CowMap<NodeId, Node>& nodes, const std::vector<NodeShare>& shares);

struct OverLimit {
  std::string name;     // as users know the reason: "AssocMaxCpuPerJobLimit"
  std::string text;     // what the limit is, whose, and what the job asks for
  bool refuse = false;  // its QOS wants such jobs refused (DenyOnLimit)
};

// The first limit that the job is over in that partition with that time limit (none = unlimited), in this order: its QOS, its user
// in the account, the account, those above it. Of one kind and TRES the first that is set holds, as BEHAVIOUR 4.10 has it. What a
// job asks for is what its specification says for the fewest nodes; where it is known what it `gets`, which may be more (whole
// nodes, CPUs beside its GPUs, more nodes), that counts. Nothing unless limits are enforced.
std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce, const JobSpec& spec,
                                    const Partition& partition, std::optional<Seconds> time_limit,
                                    const TresByNode* gets = nullptr);

}  // namespace ares::core
