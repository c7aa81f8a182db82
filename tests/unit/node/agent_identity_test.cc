// Tests: agent
// What an agent keeps over restarts: its incarnation and the position of the controller.
#include "node/agent.h"

#include <gtest/gtest.h>

#include "unit/node/world.h"

namespace ares::node {
namespace {

// Regression: the daemon exited, and the controller saw a node that does not answer.
TEST(Agent, ANodeThatStartsWithAFullSpoolSaysSoAndTakesNoJob) {
  World world;
  world.welcome();
  const std::uint64_t before = world.agent().incarnation();
  world.advance(std::chrono::seconds(100));
  world.disk.no_identity = world.disk.full = true;
  world.lose_power();
  ASSERT_TRUE(world.recovered);
  const Register first = sent<Register>(world).back();
  EXPECT_GT(first.incarnation, before);
  EXPECT_EQ(first.fault, "cannot write to the node's spool: No space left on device");
  world.welcome();
  world.disk.full = false;  // a launch alone would find place
  world.tell(make_prepare(world));
  world.settle();
  ASSERT_EQ(sent<LaunchRefused>(world).size(), 1u);
  EXPECT_TRUE(sent<LaunchRefused>(world)[0].node_fault);

  world.now.wall += std::chrono::seconds(1);
  world.lose_power();
  const Register second = sent<Register>(world).back();
  EXPECT_GT(second.incarnation, first.incarnation) << "it could not be remembered";
  world.welcome();
  world.disk.no_identity = false;
  world.advance(std::chrono::seconds(10));
  EXPECT_EQ(sent<Heartbeat>(world).back().fault, "");
  Prepare prepare = make_prepare(world);
  prepare.launch.fence = Fence(60);
  prepare.launch.attempt.attempt = AttemptNo{2};
  world.tell(prepare);
  world.settle();
  EXPECT_EQ(world.phase(prepare.launch.attempt), AttemptPhase::ready);
  world.restart_daemon();
  EXPECT_EQ(sent<Register>(world).back().incarnation, second.incarnation) << "it was saved";
}

TEST(Agent, EachHeartbeatTellsTheLoadOfTheMachine) {
  World world;
  world.welcome();
  EXPECT_EQ(sent<Heartbeat>(world).back().load, MachineLoad{}) << "it is not measured";
  std::uint32_t measured = 0;
  world.load = [&] { return MachineLoad{++measured, Bytes::mib(512)}; };
  world.restart_daemon();
  EXPECT_EQ(measured, 0u) << "a registration does not tell it";
  world.welcome();
  EXPECT_EQ(sent<Heartbeat>(world).back().load, (MachineLoad{1u, Bytes::mib(512)}));
  world.advance(std::chrono::seconds(10));
  EXPECT_EQ(sent<Heartbeat>(world).back().load, (MachineLoad{2u, Bytes::mib(512)}));
}

// Regression: a node whose spool was replaced within a second was refused for ever.
TEST(Agent, TwoStartsWithinASecondWithoutARecordHaveDifferentIncarnations) {
  World world;
  world.welcome();
  world.advance(std::chrono::seconds(100));
  world.disk.no_identity = world.disk.full = true;
  world.lose_power();
  const std::uint64_t first = sent<Register>(world).back().incarnation;
  world.now.wall += std::chrono::milliseconds(20);
  world.lose_power();
  EXPECT_GT(sent<Register>(world).back().incarnation, first);
}

// Regression: the boot after it went on from the record, and the controller refused the node for ever.
TEST(Agent, BootAfterOneThatCouldNotBeWrittenHasAHigherIncarnation) {
  World world;
  world.welcome();
  world.advance(std::chrono::seconds(100));
  world.disk.no_identity = world.disk.full = true;
  world.lose_power();
  const std::uint64_t unsaved = sent<Register>(world).back().incarnation;
  world.now.wall += std::chrono::seconds(1);
  world.disk.no_identity = world.disk.full = false;
  world.lose_power();
  EXPECT_GT(sent<Register>(world).back().incarnation, unsaved);
}

TEST(Agent, RegistersAllAttemptsAndKeepsItsIncarnation) {
  World world;
  const std::uint64_t first = world.agent().incarnation();
  EXPECT_GT(first, 0u);
  world.welcome();
  world.tell(make_prepare(world));
  world.settle();
  world.restart_daemon();
  EXPECT_EQ(world.agent().incarnation(), first);
  const Register last = sent<Register>(world).back();
  ASSERT_EQ(last.attempts.size(), 1u);
  EXPECT_EQ(last.attempts[0].phase, AttemptPhase::ready);
  EXPECT_EQ(last.highest_lsn, Lsn(50));
  EXPECT_EQ(last.highest_epoch, Epoch(1));

  const std::string tag = last.incarnation_tag;
  world.lose_power();
  EXPECT_GT(world.agent().incarnation(), first);
  EXPECT_NE(sent<Register>(world).back().incarnation_tag, tag);
}

TEST(Agent, TellsThePositionItHeardLastAlsoOfJobsOfOthers) {
  World world;
  world.welcome();
  const JournalPosition first{"db", Epoch(1), "holder", Lsn(900), JobId(12)};
  world.tell(HeartbeatAck{1}, first);
  JournalPosition older = first;
  older.lsn = Lsn(800);
  world.tell(HeartbeatAck{2}, older);  // late
  world.restart_daemon();
  EXPECT_EQ(sent<Register>(world).back().position, first);
  EXPECT_EQ(sent<Register>(world).back().highest_lsn, Lsn(900)) << "for a controller of 0.1.0";

  const JournalPosition next{"db/2", Epoch(1), "holder", Lsn(901), JobId(13)};
  world.welcome();
  world.tell(HeartbeatAck{3}, next);
  world.restart_daemon();
  EXPECT_EQ(sent<Register>(world).back().position, next);
}

TEST(Agent, TellsThePositionOfTheLastCommandToo) {
  World world;
  world.welcome();
  world.tell(make_prepare(world));
  world.settle();
  world.tell(SetLimit{kKey, Fence(50), Lsn(70), Seconds(60)});
  world.restart_daemon();
  EXPECT_EQ(sent<Register>(world).back().highest_lsn, Lsn(70));
}

// A launch is later than what the node heard with its last heartbeat.
TEST(Agent, TellsThePositionOfALaunchToo) {
  World world;
  world.welcome();
  const JournalPosition heard{"db", Epoch(1), "holder", Lsn(40), JobId(12)};
  world.tell(HeartbeatAck{1}, heard);
  world.tell(make_prepare(world));
  world.settle();
  world.agent().disconnected();
  world.agent().connected(world.now);
  EXPECT_EQ(sent<Register>(world).back().position.lsn, Lsn(50));
  const JournalPosition next{"db", Epoch(1), "holder", Lsn(50), JobId(13)};
  world.welcome();
  world.tell(HeartbeatAck{2}, next);
  world.restart_daemon();
  EXPECT_EQ(sent<Register>(world).back().position, next);
}

TEST(Agent, AdoptsAHigherIncarnationFromTheController) {
  World world;
  world.tell(Welcome{world.agent().incarnation() + 5, Seconds(300), Seconds(10)});
  const std::uint64_t raised = world.agent().incarnation();
  EXPECT_EQ(raised, sent<Register>(world).back().incarnation + 5);
  world.restart_daemon();
  EXPECT_EQ(world.agent().incarnation(), raised);
}

}  // namespace
}  // namespace ares::node
