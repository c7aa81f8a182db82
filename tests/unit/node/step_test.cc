// Tests: step, step_end
// The life of a step from its gate to its recorded end.
#include "node/step.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/clip.h"
#include "unit/node/step_fixture.h"

namespace ares::node {
namespace {

using namespace steps_of_tests;

TEST_F(StepTest, RunsFromGateToExitAndRecordsTheExit) {
  let_go();
  EXPECT_TRUE(dir->has(Record::go));
  after(Seconds(90));
  machine().task_ended({3, 0, false, false}, "", now);
  EXPECT_EQ(tree.kills, 1) << "what the script left behind";
  EXPECT_FALSE(dir->has(Record::exit)) << "not over before everything is gone";
  machine().tree_gone({Duration(5), Duration(6), Bytes(7)}, false, now);
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(exit_record().exit.code, 3);
  EXPECT_EQ(exit_record().ended_at - exit_record().started_at, Seconds(90));
  EXPECT_EQ(exit_record().usage, (Usage{Duration(5), Duration(6), Bytes(7)}));
  EXPECT_EQ(notices, (std::vector{StepNotice::ready, StepNotice::running, StepNotice::finished}));
}

TEST_F(StepTest, FailureReasonIsClipped) {
  let_go();
  std::string reason = "cannot open output file ";
  for (int i = 0; i < 3000; ++i) reason += "ä";
  machine().task_ended({1, 0, false, false}, reason, now);
  machine().tree_gone({}, false, now);
  EXPECT_EQ(exit_record().detail, clip(reason));
  EXPECT_LT(dir->read(Record::exit)->size(), 4096u) << "no more than was reserved for it";
}

TEST_F(StepTest, EarlierEndIsAnnouncedAndTermComesBeforeIt) {
  settings.checkpoints = true;
  settings.warning = WarningSignal{SIGUSR1, Seconds(60)};
  let_go();
  machine().receive(StepKill{Fence(50), false, Seconds(300)}, now);
  after(Seconds(10));
  machine().receive(StepKill{Fence(50), false}, now);
  ASSERT_FALSE(tree.announced.empty());
  EXPECT_EQ(tree.announced.back(), (std::pair(now.wall + Seconds(30), std::string("CANCELLED"))));
  tree.signals.clear();
  after(Seconds(28));
  EXPECT_EQ(tree.signals, std::vector{SIGTERM});
  EXPECT_EQ(tree.kills, 0);
  after(Seconds(2));
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, OnlyOneOfTwoSupervisorsIsElected) {
  ASSERT_TRUE(machine().start(now));
  auto second_dir = spool.open(kKey);
  FakeTree second_tree;
  StepMachine second(settings, *second_dir, second_tree, [](StepNotice) {});
  EXPECT_EQ(second.start(now).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(second.finished());
  second.receive(StepGo{Fence(50), std::nullopt}, now);
  EXPECT_EQ(second_tree.opened, 0);
}

TEST_F(StepTest, SecondSupervisorDoesNotRunTheJobAgain) {
  ASSERT_TRUE(dir->create(Record::started, encode(StartedRecord{})));
  EXPECT_FALSE(machine().start(now));
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(tree.opened, 0);
}

TEST_F(StepTest, CancelledRecordOrMissingIntentPreventsTheStart) {
  ASSERT_TRUE(dir->create(Record::cancelled, encode(CancelledRecord{Fence(50), now.wall, "x"})));
  EXPECT_FALSE(machine().start(now));
  EXPECT_FALSE(dir->has(Record::started));

  const AttemptKey other{{JobId(13), TaskIndex{}}, AttemptNo(1)};
  auto empty = std::move(*spool.create(other));
  settings.attempt = other;
  StepMachine without(settings, *empty, tree, [](StepNotice) {});
  EXPECT_FALSE(without.start(now));
}

TEST_F(StepTest, FailedPreparationForksNothingAndIsRecorded) {
  const Status started = machine().start(now, [this] {
    EXPECT_TRUE(dir->has(Record::started)) << "only the elected supervisor prepares";
    return fail(ErrorCode::resource_exhausted, "no socket");
  });
  EXPECT_EQ(started.error().message, "no socket");
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(decode_cancelled(*dir->read(Record::cancelled))->why, "no socket");
  EXPECT_FALSE(dir->has(Record::task));
  EXPECT_EQ(notices, std::vector{StepNotice::finished});
}

TEST_F(StepTest, GoWithAnotherFenceIsIgnored) {
  ASSERT_TRUE(machine().start(now));
  for (Fence fence : {Fence(49), Fence(51)}) machine().receive(StepGo{fence, std::nullopt}, now);
  EXPECT_EQ(tree.opened, 0);
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  EXPECT_EQ(tree.opened, 1);
}

TEST_F(StepTest, FailedForkIsRecordedAsCancelled) {
  tree.broken = true;
  EXPECT_FALSE(machine().start(now));
  EXPECT_TRUE(machine().finished());
  EXPECT_NE(decode_cancelled(*dir->read(Record::cancelled))->why.find("fork"), std::string::npos);
}

TEST_F(StepTest, KillBeforeGoPreventsTheStart) {
  ASSERT_TRUE(machine().start(now));
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_TRUE(machine().finished());
  EXPECT_TRUE(dir->has(Record::cancelled));
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  EXPECT_EQ(tree.opened, 0);
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, KillMayHaveAGraceAndALaterOneOnlyShortensIt) {
  let_go();
  machine().receive(StepKill{Fence(50), false, Seconds(120)}, now);
  EXPECT_EQ(tree.signals, (std::vector{SIGCONT, SIGTERM}));
  EXPECT_EQ(*machine().next_deadline() - now.boot, Seconds(120));
  after(Seconds(20));
  machine().receive(StepKill{Fence(50), false, Seconds(120)}, now);
  EXPECT_EQ(*machine().next_deadline() - now.boot, Seconds(100)) << "it was said again";
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(*machine().next_deadline() - now.boot, Seconds(30)) << "cancelled meanwhile";
  after(Seconds(30));
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, KillIsSigtermThenKillWaitThenSigkill) {
  let_go();
  machine().receive(StepKill{Fence(50), false}, now);
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(tree.signals, (std::vector{SIGCONT, SIGTERM}));
  after(Seconds(29));
  EXPECT_EQ(tree.kills, 0);
  EXPECT_EQ(*machine().next_deadline() - now.boot, Seconds(1));
  after(Seconds(1));
  EXPECT_EQ(tree.kills, 1);
  after(Seconds(2));
  EXPECT_EQ(tree.kills, 2) << "again, while something is left";
  machine().tree_gone({}, false, now);
  EXPECT_EQ(exit_record().exit, (ExitStatus{0, SIGKILL, false, false}));
}

TEST_F(StepTest, KillOfAnOlderAllocationIsIgnored) {
  let_go();
  machine().receive(StepKill{Fence(49), true}, now);
  EXPECT_EQ(tree.kills, 0);
  EXPECT_TRUE(tree.signals.empty());
}

TEST_F(StepTest, TimeLimitCountsFromGoAndMayChange) {
  settings.time_limit = Seconds(60);
  ASSERT_TRUE(machine().start(now));
  after(Seconds(1000));  // at the gate
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  after(Seconds(59));
  EXPECT_TRUE(tree.signals.empty());
  machine().receive(StepSetLimit{Fence(50), Lsn(70), Seconds(120)}, now);
  machine().receive(StepSetLimit{Fence(50), Lsn(69), Seconds(1)}, now);  // reordered in the network
  machine().receive(StepSetLimit{Fence(50), Lsn(70), Seconds(1)}, now);  // repeated
  after(Seconds(60));
  EXPECT_TRUE(tree.signals.empty());
  after(Seconds(1));
  EXPECT_EQ(tree.signals, (std::vector{SIGCONT, SIGTERM}));
  machine().task_ended({0, SIGTERM, false, false}, "", now);
  machine().tree_gone({}, false, now);
  EXPECT_TRUE(exit_record().exit.timed_out);
}

TEST_F(StepTest, SignalsAreAppliedOnceAndOnlyWhileRunning) {
  ASSERT_TRUE(machine().start(now));
  machine().receive(StepSignal{Fence(50), Lsn(60), SIGUSR1, false}, now);
  EXPECT_TRUE(tree.signals.empty());
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  machine().receive(StepSignal{Fence(50), Lsn(60), SIGUSR1, false}, now);
  machine().receive(StepSignal{Fence(50), Lsn(60), SIGUSR1, false}, now);
  machine().receive(StepSignal{Fence(50), Lsn(59), SIGUSR2, false}, now);
  machine().receive(StepSignal{Fence(50), Lsn(61), SIGUSR2, true}, now);
  EXPECT_EQ(tree.signals, (std::vector{SIGUSR1, -SIGUSR2}));
}

// Nodes of a job after its first one.
TEST_F(StepTest, WithoutTheScriptItHoldsTheAllocationUntilKill) {
  settings.runs_script = false;
  let_go();
  machine().receive(StepSetLimit{Fence(50), Lsn(60), Seconds(1)}, now);
  machine().receive(StepSignal{Fence(50), Lsn(61), SIGUSR1, true}, now);
  after(Seconds(100));
  machine().task_ended(ExitStatus{}, "", now);
  EXPECT_FALSE(machine().finished());
  EXPECT_TRUE(tree.signals.empty()) << "the script is elsewhere, and so is what ends the job";
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(tree.kills, 1) << "nothing there needs a grace";
  machine().tree_gone({}, false, now);
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(exit_record().exit, ExitStatus{});
}

TEST_F(StepTest, StepsWithoutTheScriptAreEndedLikeAScript) {
  settings.runs_script = false;
  let_go();
  tree.steps = true;
  machine().receive(StepSignal{Fence(50), Lsn(61), SIGUSR1, false}, now);
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(tree.signals, (std::vector<int>{SIGUSR1, SIGCONT, SIGTERM}));
  EXPECT_EQ(tree.kills, 0);
  tree.steps = false;
  machine().steps_ended(now);
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, ScriptThatEndsWhenToldToLeavesItsStepsTheirTime) {
  let_go();
  tree.steps = true;
  machine().receive(StepKill{Fence(50), false}, now);
  machine().task_ended(ExitStatus{.code = 0, .signal = SIGTERM}, "", now);
  EXPECT_EQ(tree.kills, 0);
  after(Seconds(29));
  EXPECT_EQ(tree.kills, 0);
  after(Seconds(1));
  EXPECT_EQ(tree.kills, 1) << "but not longer than kill_wait";
}

TEST_F(StepTest, ScriptThatEndsByItselfEndsItsSteps) {
  let_go();
  tree.steps = true;
  machine().task_ended(ExitStatus{}, "", now);
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, OnlyTheFirstNodeKeepsTheTimeLimit) {
  LaunchSpec launch;
  launch.spec = std::make_shared<const JobSpec>();
  launch.time_limit = Seconds(60);
  EXPECT_EQ(settings_of(launch).time_limit, Seconds(60));
  launch.rank = 1;
  EXPECT_EQ(settings_of(launch).time_limit, std::nullopt);
}

TEST_F(StepTest, SupervisorAtTheGateExitsIfItsRecordsAreRemoved) {
  ASSERT_TRUE(machine().start(now));
  after(Seconds(60));
  EXPECT_FALSE(machine().finished());
  spool.content(kKey)->records.erase(Record::intent);
  after(Seconds(60));
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(tree.kills, 1);
}

// The disk is full when the exit is to be recorded: it is kept in memory and written later.
TEST(StepOnAFullDisk, ExitIsRecordedOnceThereIsSpace) {
  class FullDir final : public AttemptDir {
   public:
    explicit FullDir(AttemptDir& real) : real_(real) {}
    Status create(Record r, std::string_view t) override {
      if (full) return fail(ErrorCode::resource_exhausted, "No space left on device");
      return real_.create(r, t);
    }
    Result<std::string> read(Record r) const override { return real_.read(r); }
    bool has(Record r) const override { return real_.has(r); }
    Status sync() const override { return real_.sync(); }
    Result<bool> lock() override { return real_.lock(); }
    Status reserve_exit() override { return {}; }
    bool full = false;

   private:
    AttemptDir& real_;
  };
  MemorySpool spool;
  auto real = std::move(*spool.create(kKey));
  IntentRecord intent;
  intent.attempt = kKey;
  intent.fence = Fence(50);
  intent.boot_id = "boot";
  ASSERT_TRUE(real->create(Record::intent, encode(intent)));
  FullDir dir(*real);
  FakeTree tree;
  StepSettings settings;
  settings.attempt = kKey;
  settings.fence = Fence(50);
  StepMachine machine(settings, dir, tree, [](StepNotice) {});
  Moment now{Time(Seconds(1)), BootTime(Seconds(1))};
  ASSERT_TRUE(machine.start(now));
  dir.full = true;
  machine.receive(StepGo{Fence(50), std::nullopt}, now);
  EXPECT_EQ(tree.opened, 0) << "no commit, no start";
  dir.full = false;
  machine.receive(StepGo{Fence(50), std::nullopt}, now);
  EXPECT_EQ(tree.opened, 1);
  dir.full = true;
  machine.task_ended({5, 0, false, false}, "", now);
  machine.tree_gone({}, false, now);
  EXPECT_FALSE(machine.finished());
  dir.full = false;
  now.boot = *machine.next_deadline();
  machine.tick(now);
  EXPECT_TRUE(machine.finished());
  EXPECT_EQ(decode_exit(*dir.read(Record::exit))->exit.code, 5);
}

}  // namespace
}  // namespace ares::node
