// Limits on a job by itself, whatever else runs: MaxTRESPerJob, MaxTRESPerNode, MaxTRESMinsPerJob, MaxWall, MinTRESPerJob.
// Those on what runs and waits together are limit_use.h's. Pure functions; any thread.
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
  std::string name;     // as users know the reason: "AssocMaxCpuPerJobLimit"
  std::string text;     // what the limit is, whose, what is in use, and what the job asks for
  bool refuse = false;  // its QOS wants such jobs refused (DenyOnLimit)
  bool varies_with_time = false;  // time alone changes what is in use
};

// The first limit that the job is over, in this order: the partition's QOS, its own (or the other way round, see BindingQos), its user
// in the account, the account, those above it. Of one kind and TRES the first that is set holds (ares-accounting(7)). Where it is
// known what the job gets, which may be more than it asks for (whole nodes, CPUs beside its GPUs, more nodes), that counts.
// Nothing unless limits are enforced.
std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce,
                                    const RequestedTres& requested, ClusterTotals& cluster_totals);

}  // namespace ares::core
