// How limits are named to users: reasons as users of Slurm know them, amounts with their units.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/accounts.h"

namespace ares::core {

// The reason of a job that is over a limit of that kind and TRES, set by a QOS or else by an account or user:
// "AssocGrpCpuLimit", "QOSMaxGRESPerUser". Empty of kinds that are no bound of a job's start.
std::string reason_name(LimitKind kind, std::string_view tres, bool qos);

// GPUs are counted in thousandths, as jobs may ask for parts of one; limits are of whole ones.
std::uint64_t units_of(std::string_view tres);
// Of so many of those units: "0.5", "2048M"; the highest value is "unlimited".
std::string amount_text(std::string_view tres, std::uint64_t units);

// What the limit is: "12:00:00", "cpu=100", "3".
std::string limit_text(const Limit& limit);

}  // namespace ares::core
