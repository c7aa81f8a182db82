// Texts about limits: reasons with the names of Slurm, amounts with their units.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/accounts/limits/cluster_totals.h"
#include "model/accounts/accounts.h"

namespace ares::core {

// The reason of a job that exceeds a limit of that kind and TRES, of a QOS or else of an account or
// user: "AssocGrpCpuLimit", "QOSMaxGRESPerUser". Empty for kinds that do not bound a start.
std::string reason_name(LimitKind kind, std::string_view tres, bool qos);

// Counted units per unit of a limit: GPUs count in thousandths, limits are on whole GPUs.
std::uint64_t units_of(std::string_view tres);
// An amount in those units as text: "0.5", "2048M"; the highest value is "unlimited".
std::string amount_text(std::string_view tres, std::uint64_t units);

// How to read a limit. A job's QOS may widen limits of accounts and users on TRES held at a time
// (LimitFactor). A QOS may have such limits in percent of a total (Relative).
struct LimitScale {
  std::uint32_t factor = 1000;  // thousandths
  bool percent = false;
  std::string of{};  // percent of this partition; empty = of the cluster
};
// For limits of an account or user and a job with that QOS (null: none).
LimitScale account_scale(const Limit& limit, const Qos* own);
// For limits of a QOS; `partition`: the partition that has it, empty for the job's own QOS.
LimitScale qos_scale(const Limit& limit, const Qos& qos, const std::string& partition);

// The bound in the units of amount_text(); for limits not on TRES their value.
std::uint64_t most_of(const Limit& limit, const LimitScale& scale, ClusterTotals& cluster_totals);

// The limit as text: "12:00:00", "cpu=100", "3"; "cpu=100 times 1.5" (factor); "cpu=25 % of 400".
std::string limit_text(const Limit& limit);
std::string limit_text(const Limit& limit, const LimitScale& scale, ClusterTotals& cluster_totals);

}  // namespace ares::core
