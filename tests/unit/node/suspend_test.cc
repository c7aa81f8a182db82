// StepMachine: suspension by command, together with leases, time limits and ends.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/memory_spool.h"
#include "node/step.h"
#include "unit/node/world.h"

namespace ares::node {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Tree final : public ProcessTree {
 public:
  Result<TaskRecord> spawn_gated() override { return TaskRecord{}; }
  void open_gate() override {}
  void signal(std::int32_t s, SignalTo) override { signals.push_back(s); }
  bool freeze() override { return frozen = true; }
  bool has_freezer() const override { return freezer; }
  void thaw() override { frozen = false; }
  void kill_all() override { ++kills; }

  bool frozen = false, freezer = true;
  int kills = 0;
  std::vector<int> signals;
};

class SuspendStep : public ::testing::Test {
 protected:
  SuspendStep() {
    settings.attempt = kKey;
    settings.fence = Fence(50);
    settings.kill_wait = Seconds(30);
    dir = std::move(*spool.create(kKey));
    EXPECT_TRUE(dir->create(Record::intent,
                            encode(IntentRecord{kKey, Fence(50), 1, "boot", 0, false, {}})));
  }
  void start() {
    machine.emplace(settings, *dir, tree, [](StepNotice) {});
    ASSERT_TRUE(machine->start(now));
  }
  void go(std::optional<BootTime> lease = std::nullopt) {
    machine->receive(StepGo{Fence(50), lease}, now);
  }
  void set(bool suspended, std::uint64_t lsn, Seconds grace = Seconds(2)) {
    machine->receive(StepSetSuspended{Fence(50), Lsn(lsn), suspended, grace}, now);
  }
  void after(Duration time) {
    now.boot += time;
    now.wall += time;
    machine->tick(now);
  }

  MemorySpool spool;
  std::unique_ptr<AttemptDir> dir;
  Tree tree;
  StepSettings settings;
  std::optional<StepMachine> machine;
  Moment now{Time(Seconds(1'700'000'000)), BootTime(Seconds(5000))};
};

TEST_F(SuspendStep, NewestCommandAppliesAndRepeatedOnesAreIgnored) {
  start();
  go();
  set(true, 7);
  EXPECT_TRUE(tree.frozen);
  EXPECT_THAT(tree.signals, IsEmpty()) << "a freezer needs none";
  set(false, 9);
  EXPECT_FALSE(tree.frozen);
  set(true, 7);
  EXPECT_FALSE(tree.frozen) << "late: an older word";
  machine->receive(StepSetSuspended{Fence(49), Lsn(99), true, {}}, now);
  EXPECT_FALSE(tree.frozen) << "for another attempt";
}

TEST_F(SuspendStep, JobThatSavesItsStateCountsAsStoppedAfterItsTimeForThat) {
  settings.checkpoints = true;
  settings.warning = WarningSignal{};
  start();
  go();
  set(true, 7);
  EXPECT_EQ(machine->stopped_by(), Lsn(0));
  after(Seconds(2));
  EXPECT_EQ(machine->stopped_by(), Lsn(7));
  set(true, 8);
  EXPECT_EQ(machine->stopped_by(), Lsn(8)) << "it is stopped already";
  set(false, 9);
  EXPECT_EQ(machine->stopped_by(), Lsn(0));
}

TEST_F(SuspendStep, TimeLimitDoesNotRunWhileSuspended) {
  settings.time_limit = Seconds(100);
  start();
  go();
  after(Seconds(60));
  set(true, 7);
  EXPECT_EQ(machine->next_deadline(), std::nullopt);
  after(Seconds(1000));
  EXPECT_THAT(tree.signals, IsEmpty());
  set(false, 8);
  EXPECT_EQ(machine->next_deadline(), now.boot + Seconds(40));
  after(Seconds(39));
  EXPECT_THAT(tree.signals, IsEmpty());
  after(Seconds(1));
  EXPECT_THAT(tree.signals, ElementsAre(SIGCONT, SIGTERM));
}

TEST_F(SuspendStep, ChangedTimeLimitDoesNotRunWhileSuspended) {
  settings.time_limit = Seconds(100);
  start();
  go();
  after(Seconds(10));
  set(true, 7);
  machine->receive(StepSetLimit{Fence(50), Lsn(8), Seconds(30)}, now);
  after(Seconds(500));
  EXPECT_THAT(tree.signals, IsEmpty());
  set(false, 9);
  EXPECT_EQ(machine->next_deadline(), now.boot + Seconds(20));
}

TEST_F(SuspendStep, WithoutAFreezerSigtstpPrecedesTheStop) {
  tree.freezer = false;
  start();
  go();
  set(true, 7);
  EXPECT_THAT(tree.signals, ElementsAre(SIGTSTP));
  EXPECT_FALSE(tree.frozen);
  after(Seconds(2));
  EXPECT_TRUE(tree.frozen);
  set(false, 8);
  EXPECT_FALSE(tree.frozen);
  set(true, 9);
  set(false, 10);
  after(Seconds(10));
  EXPECT_FALSE(tree.frozen) << "it goes on: nothing stops it any more";
}

TEST_F(SuspendStep, SuspensionAtTheGateAppliesAfterGo) {
  start();
  set(true, 7);
  EXPECT_FALSE(tree.frozen);
  go();
  EXPECT_TRUE(tree.frozen);
}

TEST_F(SuspendStep, KillThawsBeforeSigterm) {
  start();
  go();
  set(true, 7);
  machine->receive(StepKill{Fence(50), false}, now);
  EXPECT_FALSE(tree.frozen);
  EXPECT_THAT(tree.signals, ElementsAre(SIGCONT, SIGTERM));
  set(true, 9);
  EXPECT_FALSE(tree.frozen) << "nothing stops what is ending";
  after(Seconds(30));
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(SuspendStep, SigcontDoesNotResumeItAndSigkillEndsIt) {
  start();
  go();
  set(true, 7);
  const auto send = [&](std::int32_t signal, std::uint64_t lsn) {
    machine->receive(StepSignal{Fence(50), Lsn(lsn), signal, false}, now);
  };
  send(SIGUSR1, 8);
  send(SIGCONT, 9);
  EXPECT_THAT(tree.signals, ElementsAre(SIGUSR1));
  EXPECT_TRUE(tree.frozen);
  send(SIGKILL, 10);
  EXPECT_FALSE(tree.frozen) << "it has to be awake to die";
}

TEST_F(SuspendStep, LeaseRenewalDoesNotResumeASuspendedJob) {
  settings.leased = true;
  start();
  go(now.boot + Seconds(10));
  set(true, 7);
  after(Seconds(11));
  EXPECT_TRUE(machine->frozen());
  machine->receive(StepRenewLease{now.boot + Seconds(10)}, now);
  EXPECT_TRUE(tree.frozen);
  after(Seconds(11));
  set(false, 8);
  EXPECT_TRUE(tree.frozen) << "its lease has run out again";
  machine->receive(StepRenewLease{now.boot + Seconds(10)}, now);
  EXPECT_FALSE(tree.frozen);
}

}  // namespace
}  // namespace ares::node
