// How limits are named to users: reasons as users of Slurm know them, amounts with their units.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/accounts/limits/cluster_totals.h"
#include "model/accounts/accounts.h"

namespace ares::core {

// The reason of a job that is over a limit of that kind and TRES, set by a QOS or else by an account or user:
// "AssocGrpCpuLimit", "QOSMaxGRESPerUser". Empty of kinds that are no bound of a job's start.
std::string reason_name(LimitKind kind, std::string_view tres, bool qos);

// GPUs are counted in thousandths, as jobs may ask for parts of one; limits are of whole ones.
std::uint64_t units_of(std::string_view tres);
// Of so many of those units: "0.5", "2048M"; the highest value is "unlimited".
std::string amount_text(std::string_view tres, std::uint64_t units);

// How a limit is to be read. Of accounts and users the QOS of a job may widen what is held at a time (LimitFactor); a QOS may have limits
// on that in percent of a whole (Relative).
struct LimitScale {
  std::uint32_t factor = 1000;  // thousandths
  bool percent = false;
  std::string of{};  // the partition that is the whole then; empty = the cluster
};
// Of an account or user, for a job that runs with that QOS (null: with none).
LimitScale account_scale(const Limit& limit, const Qos* own);
// Of a QOS; `partition`: whose it is, empty for the job's own.
LimitScale qos_scale(const Limit& limit, const Qos& qos, const std::string& partition);

// How much it lets have, in the units of amount_text(); of others than TRES its value.
std::uint64_t most_of(const Limit& limit, const LimitScale& scale, ClusterTotals& cluster_totals);

// What the limit is: "12:00:00", "cpu=100", "3"; "cpu=100 times 1.5" with a factor; "cpu=25 % of 400".
std::string limit_text(const Limit& limit);
std::string limit_text(const Limit& limit, const LimitScale& scale, ClusterTotals& cluster_totals);

}  // namespace ares::core
