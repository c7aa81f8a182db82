#include "steps/hold.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

constexpr AllocationHold::ClientId kScript = 1, kCommand = 2, kAgain = 3;

BootTime at(int seconds) {
  return BootTime(Seconds(seconds));
}

struct Held : testing::Test {
  AllocationHold hold{Seconds(60)};
};

TEST_F(Held, ScriptEndsWithTheCodeOfTheCommand) {
  EXPECT_FALSE(hold.has_script());
  hold.script_waits(kScript, false, at(0));
  EXPECT_TRUE(hold.has_script());
  hold.command_holds(kCommand);
  EXPECT_FALSE(hold.due(at(1000)));
  hold.command_releases(kCommand, 7);
  const auto release = hold.due(at(1000));
  ASSERT_TRUE(release);
  EXPECT_EQ(release->script, kScript);
  EXPECT_EQ(release->command, kCommand);
  EXPECT_EQ(release->code, 7u);
  EXPECT_EQ(release->why, "");
  EXPECT_FALSE(hold.due(at(1001))) << "the script is told once";
}

TEST_F(Held, CommandThatAsksAgainIsAnswered) {
  hold.script_waits(kScript, false, at(0));
  hold.command_holds(kCommand);
  EXPECT_FALSE(hold.command_releases(kCommand, 7));
  EXPECT_FALSE(hold.command_releases(kAgain, 8)) << "due() tells it";
  EXPECT_EQ(hold.due(at(1))->command, kAgain);
  EXPECT_EQ(hold.command_releases(kCommand, 8), 7u) << "the script was told that";
}

TEST_F(Held, AllocationWithoutItsCommandEndsAfterTheTime) {
  hold.script_waits(kScript, false, at(0));
  hold.command_holds(kCommand);
  EXPECT_FALSE(hold.deadline());
  hold.client_lost(kCommand, at(100));
  EXPECT_EQ(hold.deadline(), at(160));
  EXPECT_FALSE(hold.due(at(159)));
  const auto release = hold.due(at(160));
  ASSERT_TRUE(release);
  EXPECT_EQ(release->code, 129u);
  EXPECT_NE(release->why, "");
}

TEST_F(Held, CommandThatComesBackKeepsIt) {
  hold.script_waits(kScript, false, at(0));
  hold.command_holds(kCommand);
  hold.client_lost(kCommand, at(100));
  hold.command_holds(kAgain);
  EXPECT_FALSE(hold.due(at(1000)));
}

TEST_F(Held, CommandThatNeverComesIsWaitedForAsLong) {
  hold.script_waits(kScript, false, at(5));
  EXPECT_FALSE(hold.due(at(64)));
  EXPECT_TRUE(hold.due(at(65)));
}

TEST_F(Held, ReleaseWaitsForAScriptThatComesLater) {
  hold.command_holds(kCommand);
  hold.command_releases(kCommand, 0);
  EXPECT_FALSE(hold.due(at(1)));
  hold.script_waits(kScript, false, at(2));
  EXPECT_TRUE(hold.due(at(2)));
}

TEST_F(Held, ScriptThatIsGoneIsNotWaitedFor) {
  hold.script_waits(kScript, false, at(0));
  hold.client_lost(kScript, at(1));
  EXPECT_FALSE(hold.deadline());
  EXPECT_FALSE(hold.due(at(100)));
}

TEST_F(Held, UnheldAllocationLasts) {
  hold.script_waits(kScript, true, at(0));
  EXPECT_FALSE(hold.deadline());
  EXPECT_FALSE(hold.due(at(100'000)));
}

}  // namespace
}  // namespace ares::steps
