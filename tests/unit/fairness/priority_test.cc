// Multifactor priority: each factor, each flag, the bounds.
#include "core/fairness/priority.h"

#include <gtest/gtest.h>

#include <limits>

namespace ares::core::fairness {
namespace {

using std::chrono::hours;

// 100 nodes of 64 CPUs; the highest priorities are 10, 20 and 40.
constexpr PriorityScale kScale{100, 6400, 10, 20, 40};

Fairness rules() {
  Fairness made;
  made.weights = {1000, 2000, 10'000, 500, 300, 700};
  return made;
}

PriorityInput half_of_everything() {
  PriorityInput in;
  in.age = hours(84);
  in.fairshare = 0.5;
  in.nodes = 50;
  in.cpus = 3200;
  in.time_limit = hours(1);
  in.association = 5;
  in.partition = 10;
  in.qos = 20;
  in.tres = {{8, 16, 4000}, {1, 4, 400}};
  in.nice = 100;
  return in;
}

double factor(Factor which, const PriorityInput& in, const Fairness& with) {
  return multifactor_priority(in, kScale, with).factors[static_cast<std::size_t>(which)].normalised;
}

TEST(Multifactor, IsTheWeightedSumMinusNice) {
  const Priority priority = multifactor_priority(half_of_everything(), kScale, rules());
  EXPECT_EQ(priority.value, 500u + 1000 + 5000 + 250 + 150 + 350 + 2000 + 100 - 100);
  double sum = 0;
  for (const FactorValue& value : priority.factors) sum += value.weighted;
  EXPECT_EQ(sum, priority.value) << "the rows say what it consists of";
}

TEST(Multifactor, TableHasEveryFactorOnceInOrder) {
  for (std::size_t i = 0; i < kFactors; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(factor_table()[i].factor), i);
    EXPECT_FALSE(factor_table()[i].name.empty());
  }
}

TEST(Multifactor, IsBetweenOneAndTheMaximum) {
  PriorityInput in;
  in.nice = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(multifactor_priority(in, kScale, rules()).value, 1u) << "0 would mean held";
  in.nice = 0;
  in.site = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(multifactor_priority(in, kScale, rules()).value, 0xffffffffu);
  EXPECT_EQ(multifactor_priority({}, {}, {}).value, 1u) << "no weights, no cluster";
}

TEST(Multifactor, AgeGrowsToItsMaximum) {
  PriorityInput in;
  in.age = hours(24 * 3);
  EXPECT_NEAR(factor(Factor::age, in, rules()), 3.0 / 7, 1e-12);
  in.age = hours(24 * 70);
  EXPECT_EQ(factor(Factor::age, in, rules()), 1);
  in.age = hours(-1);
  EXPECT_EQ(factor(Factor::age, in, rules()), 0) << "not eligible yet";
}

TEST(Multifactor, SizeFavoursLargeOrSmall) {
  PriorityInput in;
  in.nodes = 10;
  in.cpus = 3200;
  Fairness with = rules();
  EXPECT_NEAR(factor(Factor::job_size, in, with), (0.1 + 0.5) / 2, 1e-12);
  with.flags.favor_small = true;
  EXPECT_NEAR(factor(Factor::job_size, in, with), (0.9 + 0.5) / 2, 1e-12);
  in.cpus = 0;
  EXPECT_NEAR(factor(Factor::job_size, in, with), 0.9, 1e-12) << "CPUs are not known";
  in.nodes = 1000;
  EXPECT_EQ(factor(Factor::job_size, in, with), 0) << "larger than the cluster";
}

TEST(Multifactor, SizeMayBeRelativeToTime) {
  PriorityInput in;
  in.nodes = 10;
  in.cpus = 100;
  in.time_limit = Seconds(120);
  Fairness with = rules();
  with.flags.small_relative_to_time = true;
  // max(10 * 6400/100, 100) / 2 min / 6400
  EXPECT_NEAR(factor(Factor::job_size, in, with), 0.05, 1e-12);
  with.flags.favor_small = true;
  EXPECT_NEAR(factor(Factor::job_size, in, with), 0.95, 1e-12);
}

TEST(Multifactor, RawFactorsAreNotNormalised) {
  const PriorityInput in = half_of_everything();
  Fairness with = rules();
  EXPECT_EQ(factor(Factor::association, in, with), 0.5);
  with.flags.no_normal_association = with.flags.no_normal_partition = true;
  with.flags.no_normal_qos = with.flags.no_normal_tres = true;
  EXPECT_EQ(factor(Factor::association, in, with), 5);
  EXPECT_EQ(factor(Factor::partition, in, with), 10);
  EXPECT_EQ(factor(Factor::qos, in, with), 20);
  EXPECT_EQ(factor(Factor::tres, in, with), 8 * 4000 + 400);
}

TEST(Billing, SumsOrTakesTheLargest) {
  const auto weight = [](double w) {
    return static_cast<std::uint64_t>(w * (1 << kTresWeightBits));
  };
  const TresWeights weights{{"cpu", weight(1)},
                            {"mem", weight(0.25 / 1024)},
                            {"gres/gpu", weight(8)},
                            {"license/x", weight(2)}};
  const TresSeconds amounts{
      {"cpu", 4}, {"mem", 65536}, {"gres/gpu", 1}, {"license/x", 3}, {"billing", 9999}};
  EXPECT_EQ(billing(amounts, weights, BillingMode::sum), 4u + 16 + 8 + 6);
  EXPECT_EQ(billing(amounts, weights, BillingMode::max_tres), 16u + 6);
  EXPECT_EQ(billing(amounts, weights, BillingMode::max_tres_gres), 8u + 16 + 6);
  EXPECT_EQ(billing({{"cpu", 3}}, {{"cpu", weight(0.5)}}, BillingMode::sum), 1u) << "truncated";
}

}  // namespace
}  // namespace ares::core::fairness
