// The cost of an alternative, and the order of starts that follows from it.
#include "model/job/gpu_alternatives.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ares {
namespace {

using std::chrono::hours;

TEST(GpuAlternatives, CostsAreParsedAndPrinted) {
  const std::pair<const char*, std::uint32_t> good[] = {
      {"1", 1000}, {"1.5", 1500}, {"0.001", 1}, {"1000", 1'000'000}, {"2.25", 2250}, {"007", 7000}};
  for (const auto& [text, cost] : good) {
    const auto read = parse_gpu_cost(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, cost) << text;
    EXPECT_EQ(*parse_gpu_cost(format_gpu_cost(cost)), cost);
  }
  EXPECT_EQ(format_gpu_cost(1500), "1.5");
  EXPECT_EQ(format_gpu_cost(1000), "1");
  EXPECT_EQ(format_gpu_cost(25), "0.025");
  for (const char* text : {"", "0", "0.000", "1.", ".5", "1.0001", "-1", "1e3", "1000.001", "1001",
                           "x", "1.5.5", "99999999999"})
    EXPECT_FALSE(parse_gpu_cost(text)) << text;
}

TEST(GpuAlternatives, StartCountsAsItsTimePlusCostTimesLimit) {
  const Time now{hours(1000)};
  const CostlyStart dear{now, 1500}, later{now + hours(5), 1000};
  EXPECT_FALSE(counts_less(later, dear, Seconds(hours(10)))) << "the same";
  EXPECT_FALSE(counts_less(dear, later, Seconds(hours(10)))) << "the same";
  EXPECT_TRUE(counts_less(later, dear, Seconds(hours(11))));
  EXPECT_TRUE(counts_less(dear, later, Seconds(hours(9))));
  EXPECT_TRUE(counts_less({now + hours(100'000), 1000}, dear, std::nullopt)) << "whatever it takes";
  EXPECT_TRUE(counts_less({now, 1000}, {now + hours(1), 1000}, std::nullopt));
  EXPECT_TRUE(counts_less({now + hours(1000), 1}, {now, kMaxGpuCost}, Seconds::max()))
      << "no overflow";
}

// Compared with floating point, with numbers that it represents exactly.
TEST(GpuAlternatives, OrderFollowsTheFormula) {
  Random dice(3);
  for (int i = 0; i < 20'000; ++i) {
    const CostlyStart a{Time{Seconds(dice.upto(20'000))}, 1 + dice.upto(4000)};
    const CostlyStart b{Time{Seconds(dice.upto(20'000))}, 1 + dice.upto(4000)};
    const Seconds limit(1 + dice.upto(30'000));
    const auto counts = [&](const CostlyStart& start) {
      return static_cast<double>(start.at.time_since_epoch().count()) / 1000 +
             static_cast<double>(start.cost) * static_cast<double>(limit.count());
    };
    ASSERT_EQ(counts_less(a, b, limit), counts(a) < counts(b));
  }
}

TEST(GpuAlternatives, AlternativeEqualsAPlainRequest) {
  JobSpec spec;
  spec.alternatives_per = GpusPer::job;
  spec.gpus_total = {{"h100", 4}};
  spec.gpu_alternatives = {{{{"h100", 4}}, 1000}, {{{"a100", 8}, {"", 1}}, 1500}};
  JobSpec plain;
  plain.gpus_total = {{"a100", 8}, {"", 1}};
  EXPECT_EQ(with_alternative(spec, 1), plain);
  EXPECT_EQ(to_text(plain.gpus_total), "a100:8,1");
}

}  // namespace
}  // namespace ares
