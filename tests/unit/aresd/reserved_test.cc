#include "aresd/reserved.h"

#include <gtest/gtest.h>

namespace ares::aresd {
namespace {

std::string left(const std::string& machine, const std::string& reserved, std::uint32_t cpus) {
  const auto layout = machine.empty() ? CpuLayout() : parse_cpu_layout(machine).value();
  const auto set = reserved.empty() ? IntervalSet() : parse_interval_set(reserved, 1000).value();
  return format_cpu_layout(without_reserved(layout, set, cpus));
}

TEST(Reserved, CoresLoseTheThreadsThatAreSetAside) {
  EXPECT_EQ(left("0.0:0-3/4-7", "", 8), "0.0:0-3/4-7");
  EXPECT_EQ(left("0.0:0-3/4-7", "0,4", 6), "0.0:1-3/5-7");
  EXPECT_EQ(left("0.0:0-3;1.1:4-7", "4-7", 4), "0.0:0-3");
}

// The controller learns from it which CPUs to give to jobs.
TEST(Reserved, WithoutALayoutTheCpusAreListed) {
  EXPECT_EQ(left("", "0-1,3", 4), "0.0:2,4-6");
  EXPECT_EQ(left("0.0:0-1", "0", 3), "0.0:1-3") << "the machine has fewer than the node offers";
}

}  // namespace
}  // namespace ares::aresd
