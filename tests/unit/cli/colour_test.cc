#include "cli/output/colour.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ares::cli {
namespace {

TEST(Colour, StatesOfJobsAndNodesHaveOne) {
  for (const char* running : {"RUNNING", "R", "idle", "IDLE"})
    EXPECT_EQ(colour_of(running), "\033[32m") << running;
  for (const char* bad : {"FAILED", "TO", "NODE_FAIL", "down", "down*", "idle*", "fail", "SE"})
    EXPECT_EQ(colour_of(bad), "\033[31m") << bad;
  for (const char* waiting : {"PENDING", "PD", "drain", "drained", "draining", "maint", "resv"})
    EXPECT_EQ(colour_of(waiting), "\033[33m") << waiting;
  for (const char* used : {"COMPLETED", "alloc", "mixed-", "mix"})
    EXPECT_EQ(colour_of(used), "\033[36m") << used;
  for (const char* left : {"CANCELLED by 1001", "CG", "S", "REQUEUED", "completing"})
    EXPECT_EQ(colour_of(left), "\033[35m") << left;
  for (const char* other : {"", "STATE", "ST", "n/a", "sleeping"})
    EXPECT_EQ(colour_of(other), "") << other;
}

TEST(Colour, TheOptionTakesThreeWords) {
  ColourWhen chosen = ColourWhen::automatic;
  const Option row = colour_option(chosen);
  EXPECT_TRUE(row.apply("never") && chosen == ColourWhen::never);
  EXPECT_TRUE(row.apply("") && chosen == ColourWhen::always);
  EXPECT_TRUE(row.apply("AUTO") && chosen == ColourWhen::automatic);
  EXPECT_TRUE(row.apply("always") && chosen == ColourWhen::always);
  EXPECT_FALSE(row.apply("red"));
}

TEST(Colour, ThePersonDecidesBeforeTheEnvironment) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(colours_on(ColourWhen::always));
  EXPECT_FALSE(colours_on(ColourWhen::automatic));
  unsetenv("NO_COLOR");
  EXPECT_FALSE(colours_on(ColourWhen::never));
}

}  // namespace
}  // namespace ares::cli
