// Multifactor priority: a weighted sum of factors. The factors are rows of a table, so that a job's
// priority can be shown factor by factor. Pure; any thread.
//
//   P = site + age + association + fairshare + job size + partition + QOS + sum of TRES - nice
//
// Terms but the first and last: a weight times a factor from 0 to 1. P is truncated; at least 1 (0:
// held) and at most 2^32 - 1. (Source: Slurm's documentation of the multifactor plugin.)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/accounts/fairness.h"

namespace ares::core::fairness {

// Reference values of the factors: totals of the cluster and highest existing priorities.
struct PriorityScale {
  std::uint64_t nodes = 0;
  std::uint64_t cpus = 0;
  std::uint32_t max_association = 0;  // highest priority of any association
  std::uint32_t max_partition = 0;
  std::uint32_t max_qos = 0;
};

// A job's amount of one TRES, the partition's total, and the weight.
struct TresTerm {
  double amount = 0;
  double total = 0;
  std::uint32_t weight = 0;
};

// One job in one partition.
struct PriorityInput {
  std::int64_t site = 0;  // added without a weight; always 0 so far
  Duration age{};         // since the job became eligible, or was submitted
  double fairshare = 0;   // 0 to 1, from Fair Tree or classic fair share
  std::uint64_t nodes = 1;
  std::uint64_t cpus = 0;  // 0: unknown
  Seconds time_limit{};    // 0: unlimited
  std::uint32_t association = 0;
  std::uint32_t partition = 0;
  std::uint32_t qos = 0;
  std::vector<TresTerm> tres;
  std::int32_t nice = 0;
};

enum class Factor : std::uint8_t {
  site,
  age,
  association,
  fairshare,
  job_size,
  partition,
  qos,
  tres,
  nice,
};
inline constexpr std::size_t kFactors = 9;

struct FactorRow {
  Factor factor;
  std::string_view name;  // column heading: "FAIRSHARE"
  std::string_view help;
  double (*value)(const PriorityInput&, const PriorityScale&, const Fairness&);  // normalised
  double (*weight)(const Fairness&);  // 1 if the value is already weighted
};
// In the order of Factor.
const std::array<FactorRow, kFactors>& factor_table();

struct FactorValue {
  double normalised = 0;
  double weighted = 0;
};

struct Priority {
  std::array<FactorValue, kFactors> factors;
  std::uint32_t value = 1;  // P
};

Priority multifactor_priority(const PriorityInput& input, const PriorityScale& scale,
                              const Fairness& rules);

// Billing units of TRES amounts, each weight * amount, truncated. `sum`: all. `max_tres`: the
// largest of cpu, mem and gres, plus all others. `max_tres_gres`: the larger of cpu and mem, plus
// all others (gres included). The TRES `billing` itself is ignored.
std::uint64_t billing(const TresSeconds& amounts, const TresWeights& weights, BillingMode mode);

}  // namespace ares::core::fairness
