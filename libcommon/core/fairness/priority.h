// Multifactor priority: a weighted sum of factors, each a row of a table, so that what a job's priority consists of can be
// listed. Pure; any thread.
//
//   P = site + age + association + fairshare + job size + partition + QOS + sum of TRES - nice
//
// each term but the first and the last a weight times a factor from 0 to 1; truncated, at least 1 (0 is for those who are
// held), at most 2^32 - 1. (Source: the description of Slurm's multifactor plugin.)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/accounts/fairness.h"

namespace ares::core::fairness {

// What the factors are relative to: of the cluster, or among all that exist.
struct PriorityScale {
  std::uint64_t nodes = 0;
  std::uint64_t cpus = 0;
  std::uint32_t max_association = 0;  // highest priority of any
  std::uint32_t max_partition = 0;
  std::uint32_t max_qos = 0;
};

// A job's part of its partition's amount of one TRES, and what that weighs.
struct TresTerm {
  double amount = 0;
  double total = 0;
  std::uint32_t weight = 0;
};

// One job in one partition.
struct PriorityInput {
  std::int64_t site = 0;  // added as it is; nobody sets one yet
  Duration age{};         // since it became eligible, or was submitted
  double fairshare = 0;   // 0 to 1, from Fair Tree or classic
  std::uint64_t nodes = 1;
  std::uint64_t cpus = 0;  // 0: not known
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
  std::string_view name;  // for headings: "FAIRSHARE"
  std::string_view help;
  double (*value)(const PriorityInput&, const PriorityScale&, const Fairness&);  // normalised
  double (*weight)(const Fairness&);  // 1 where the value is a term already
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

// What amounts of TRES are billed as: by `sum` that of weight * amount, by `max_tres` the largest of a node's TRES (cpu, mem,
// gres) and the sum of the others, by `max_tres_gres` all gres and the largest of the rest of a node's, and the sum of the
// others. Truncated. Billing itself is no part of it.
std::uint64_t billing(const TresSeconds& amounts, const TresWeights& weights, BillingMode mode);

}  // namespace ares::core::fairness
