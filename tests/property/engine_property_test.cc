// Tests: attempt_row, step_invariants
// For any commands, node messages, network faults and controller restarts: the invariants of the core hold after every step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "property/world.h"

namespace ares::property {
namespace {

// ARES_PROPERTY_SEEDS runs more worlds than the default.
int seeds() {
  const char* asked = std::getenv("ARES_PROPERTY_SEEDS");
  return asked ? std::atoi(asked) : 40;
}

TEST(Engine, KeepsItsInvariantsUnderRandomCommands) {
  constexpr int kSteps = 1500;
  std::map<std::size_t, int> seen;
  for (int seed = 1; seed <= seeds(); ++seed) {
    World world(static_cast<std::uint64_t>(seed), 2 + seed % 4, seed % 5 == 1, seed % 2 == 0);
    for (int step = 0; step < kSteps; ++step) {
      world.step();
      ASSERT_TRUE(world.problems().empty())
          << "seed " << seed << " step " << step << ": " << world.problems().front();
    }
    const ClusterState replayed = world.replayed();
    ASSERT_TRUE(replayed == world.committed())
        << "seed " << seed << ": the journal does not lead to the live state";
    for (const auto& [kind, times] : world.events_by_kind()) seen[kind] += times;
  }
  // The test is void if some kind of event never occurs.
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
    EXPECT_GT(seen[kind], 0) << "events of kind " << kind << " never happened";
  }
}

TEST(Engine, SettlesEveryJobOnceFaultsCease) {
  for (int seed = 1; seed <= seeds() / 4; ++seed) {
    World world(static_cast<std::uint64_t>(1000 + seed), 3);
    for (int step = 0; step < 700; ++step) world.step();
    const std::vector<std::string> left = world.come_to_rest();
    ASSERT_TRUE(world.problems().empty())
        << "seed " << 1000 + seed << ": " << world.problems().front();
    EXPECT_THAT(left, ::testing::IsEmpty()) << "seed " << 1000 + seed;
  }
}

}  // namespace
}  // namespace ares::property
