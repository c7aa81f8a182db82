// Limits on one job by itself: MaxTRESPerJob, MaxTRESPerNode, MaxTRESMinsPerJob, MaxWall,
// MinTRESPerJob. Limits on several jobs together are in limit_use.h. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "core/accounts/binding_qos.h"
#include "core/accounts/limits/cluster_totals.h"
#include "core/accounts/limits/requested_tres.h"

namespace ares::core {

// Whether the limit is on a job by itself.
bool is_of_one_job(LimitKind kind);

struct OverLimit {
  std::string name;     // the reason as Slurm spells it: "AssocMaxCpuPerJobLimit"
  std::string text;     // the limit and its owner, the amount in use, and the amount requested
  bool refuse = false;  // the submission is refused (DenyOnLimit)
  bool varies_with_time = false;  // time alone changes what is in use
};

// The first limit that the job exceeds, in this order: the partition's QOS, its own (or reverse, by
// BindingQos), its user in the account, the account, those above. Of one kind and TRES the first
// limit that is set applies (ares-accounting(7)). A known allocation counts, not the request, as it
// may be larger (whole nodes, CPUs with GPUs, more nodes). None unless limits are enforced.
std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce,
                                    const RequestedTres& requested, ClusterTotals& cluster_totals);

}  // namespace ares::core
