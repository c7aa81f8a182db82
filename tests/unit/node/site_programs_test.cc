// Tests: site_programs, node/step
// The warning before an end, and the site's programs around an attempt.
#include <csignal>

#include <gtest/gtest.h>

#include "node/memory_spool.h"
#include "node/step.h"
#include "unit/node/world.h"

namespace ares::node {
namespace {

struct Signal {
  std::int32_t number;
  SignalTo to;
  friend bool operator==(const Signal&, const Signal&) = default;
};

class Tree final : public ProcessTree {
 public:
  Result<TaskRecord> spawn_gated() override {
    ++spawned;
    return TaskRecord{};
  }
  void open_gate() override { ++opened; }
  void signal(std::int32_t s, SignalTo to) override { signals.push_back({s, to}); }
  void announce_end(Time at, std::string_view why) override {
    announced.emplace_back(at, std::string(why));
  }
  void withdraw_end() override { announced.clear(); }
  bool freeze() override {
    ++freezes;
    return true;
  }
  void thaw() override {}
  void kill_all() override { ++kills; }
  std::string survivors() const override { return "4711 (python3, D)"; }

  int spawned = 0, opened = 0, kills = 0, freezes = 0;
  std::vector<Signal> signals;
  std::vector<std::pair<Time, std::string>> announced;
};

class Programs final : public SitePrograms {
 public:
  Status start_prolog() override {
    ++prologs;
    if (broken) return fail(ErrorCode::not_found, "cannot execute /x");
    return {};
  }
  Status start_epilog(const std::optional<ExitStatus>& exit) override {
    ++epilogs;
    told = exit;
    return {};
  }
  void kill() override { ++kills; }

  bool broken = false;
  int prologs = 0, epilogs = 0, kills = 0;
  std::optional<ExitStatus> told;
};

class SiteProgramsTest : public ::testing::Test {
 protected:
  SiteProgramsTest() {
    settings.attempt = kKey;
    settings.fence = Fence(50);
    settings.kill_wait = Seconds(30);
    dir = std::move(*spool.create(kKey));
    EXPECT_TRUE(dir->create(Record::intent,
                            encode(IntentRecord{kKey, Fence(50), 1, "boot", 0, false, now.wall})));
  }
  void with_programs() {
    settings.prolog_timeout = Seconds(60);
    settings.epilog_timeout = Seconds(90);
  }
  StepMachine& machine() {
    if (!machine_)
      machine_ = std::make_unique<StepMachine>(
          settings, *dir, tree, [this](StepNotice n) { notices.push_back(n); }, &programs);
    return *machine_;
  }
  void let_go() {
    machine().receive(StepGo{Fence(50), std::nullopt}, now);
    ASSERT_EQ(tree.opened, 1);
  }
  void run_to_the_end(std::int32_t code) {
    machine().task_ended({code, 0, false, false}, "", now);
    machine().tree_gone({}, false, now);
  }
  void after(Duration time) {
    now.boot += time;
    now.wall += time;
    machine().tick(now);
  }
  AttemptReport report() { return *report_attempt(spool, kKey, "boot"); }

  MemorySpool spool;
  std::unique_ptr<AttemptDir> dir;
  Tree tree;
  Programs programs;
  StepSettings settings;
  Moment now{Time(Seconds(1'700'000'000)), BootTime(Seconds(5000))};
  std::vector<StepNotice> notices;

 private:
  std::unique_ptr<StepMachine> machine_;
};

TEST_F(SiteProgramsTest, WarningComesBeforeTheTimeLimitToAllButTheScript) {
  settings.time_limit = Seconds(600);
  settings.warning = WarningSignal{SIGUSR1, Seconds(100), false};
  ASSERT_TRUE(machine().start(now));
  const Time begin = now.wall;
  let_go();
  EXPECT_EQ(machine().next_deadline(), now.boot + Seconds(500));
  after(Seconds(499));
  EXPECT_TRUE(tree.signals.empty());
  after(Seconds(1));
  EXPECT_EQ(tree.signals, (std::vector<Signal>{{SIGUSR1, SignalTo::others}}));
  ASSERT_EQ(tree.announced.size(), 1u);
  EXPECT_EQ(tree.announced[0].first, begin + Seconds(630)) << "when KILL comes";
  EXPECT_EQ(tree.announced[0].second, "TIMEOUT");
  after(Seconds(99));
  EXPECT_EQ(tree.signals.size(), 1u) << "once";
  after(Seconds(1));
  EXPECT_EQ(tree.signals.back(), (Signal{SIGTERM, SignalTo::all}));
  EXPECT_EQ(tree.announced.back().first, begin + Seconds(630));
}

TEST_F(SiteProgramsTest, WarningToTheScriptAlone) {
  settings.time_limit = Seconds(60);
  settings.warning = WarningSignal{SIGTERM, Seconds(120), true};
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().tick(now);
  EXPECT_EQ(tree.signals, (std::vector<Signal>{{SIGTERM, SignalTo::batch_script}}))
      << "a warning that is longer than the limit comes at once";
}

TEST_F(SiteProgramsTest, ALongerLimitWarnsAgain) {
  settings.time_limit = Seconds(600);
  settings.warning = WarningSignal{SIGUSR1, Seconds(100), false};
  ASSERT_TRUE(machine().start(now));
  let_go();
  after(Seconds(500));
  ASSERT_EQ(tree.signals.size(), 1u);
  machine().receive(StepSetLimit{Fence(50), Lsn(60), Seconds(1200)}, now);
  after(Seconds(599));
  EXPECT_EQ(tree.signals.size(), 1u);
  after(Seconds(1));
  EXPECT_EQ(tree.signals.size(), 2u);
  EXPECT_EQ(tree.signals.back(), (Signal{SIGUSR1, SignalTo::others}));
}

TEST_F(SiteProgramsTest, PreemptionWarnsAtOnceAndTerminatesBeforeTheGraceIsOver) {
  settings.warning = WarningSignal{SIGUSR1, Seconds(10), false};
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().receive(StepKill{Fence(50), false, Seconds(120)}, now);
  EXPECT_EQ(tree.signals,
            (std::vector<Signal>{{SIGCONT, SignalTo::all}, {SIGUSR1, SignalTo::others}}));
  ASSERT_EQ(tree.announced.size(), 1u);
  EXPECT_EQ(tree.announced[0].first, now.wall + Seconds(120));
  EXPECT_EQ(tree.announced[0].second, "PREEMPTED");
  after(Seconds(89));
  EXPECT_EQ(tree.signals.size(), 2u);
  after(Seconds(1));
  EXPECT_EQ(tree.signals.back(), (Signal{SIGTERM, SignalTo::all}));
  EXPECT_EQ(tree.kills, 0);
  after(Seconds(30));
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(SiteProgramsTest, PreemptionWithTheUsualWaitIsToldAsSuch) {
  settings.warning = WarningSignal{SIGUSR1, Seconds(10), false};
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().receive(StepKill{Fence(50), false, settings.kill_wait}, now);
  ASSERT_EQ(tree.announced.size(), 1u);
  EXPECT_EQ(tree.announced[0].second, "PREEMPTED");
  EXPECT_EQ(tree.signals.back(), (Signal{SIGTERM, SignalTo::all})) << "there is no time for both";
}

TEST_F(SiteProgramsTest, JobWithCheckpointsIsToldToSaveWhateverEndsIt) {
  settings.warning = WarningSignal{SIGUSR1, Seconds(10), false};
  settings.checkpoints = true;
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().receive(StepKill{Fence(50), false, Seconds(20)}, now);
  ASSERT_EQ(tree.announced.size(), 1u) << "before the signal";
  EXPECT_EQ(tree.announced[0].first, now.wall + Seconds(20));
  EXPECT_EQ(tree.signals.back(), (Signal{SIGUSR1, SignalTo::others}));
  after(Seconds(14));
  EXPECT_EQ(tree.signals.back().number, SIGUSR1);
  after(Seconds(1));
  EXPECT_EQ(tree.signals.back(), (Signal{SIGTERM, SignalTo::all})) << "a quarter is left";
  EXPECT_EQ(tree.kills, 0);
  after(Seconds(5));
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(SiteProgramsTest, JobWithCheckpointsSavesBeforeItIsSuspended) {
  settings.warning = WarningSignal{SIGUSR1, Seconds(10), false};
  settings.checkpoints = true;
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().receive(StepSetSuspended{Fence(50), Lsn(60), true, Seconds(5)}, now);
  EXPECT_EQ(tree.signals, (std::vector<Signal>{{SIGUSR1, SignalTo::others}}));
  ASSERT_EQ(tree.announced.size(), 1u);
  EXPECT_EQ(tree.announced[0], std::pair(now.wall + Seconds(5), std::string("SUSPENDED")));
  EXPECT_EQ(tree.freezes, 0);
  after(Seconds(5));
  EXPECT_EQ(tree.freezes, 1);
  machine().receive(StepSetSuspended{Fence(50), Lsn(61), false, Seconds(5)}, now);
  EXPECT_TRUE(tree.announced.empty()) << "no end is near any more";
}

TEST_F(SiteProgramsTest, CancellingTellsTheDeadlineAndTerminatesAtOnce) {
  settings.warning = WarningSignal{SIGUSR1, Seconds(10), false};
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(tree.signals.back(), (Signal{SIGTERM, SignalTo::all}));
  ASSERT_EQ(tree.announced.size(), 1u);
  EXPECT_EQ(tree.announced[0].second, "CANCELLED");
}

TEST_F(SiteProgramsTest, TheTaskWaitsForThePrologAndTheNodeForTheEpilog) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  EXPECT_EQ(programs.prologs, 1);
  EXPECT_EQ(tree.spawned, 0);
  EXPECT_TRUE(notices.empty()) << "not ready";
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  EXPECT_EQ(tree.opened, 0) << "a Go cannot be for it";
  machine().program_ended({}, now);
  EXPECT_EQ(notices, std::vector{StepNotice::ready});
  let_go();
  run_to_the_end(3);
  EXPECT_TRUE(dir->has(Record::exit));
  EXPECT_EQ(programs.epilogs, 1);
  EXPECT_EQ(programs.told, (ExitStatus{3, 0, false, false}));
  EXPECT_FALSE(machine().finished());
  AttemptReport told = report();
  EXPECT_EQ(told.phase, AttemptPhase::running) << "the node is busy";
  EXPECT_EQ(told.ended_at, now.wall) << "the job is not";
  EXPECT_EQ(told.exit.code, 3);
  machine().program_ended({}, now);
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(report().phase, AttemptPhase::done);
  EXPECT_EQ(report().node_problem, "");
}

TEST_F(SiteProgramsTest, FailedPrologIsTheNodesProblem) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  machine().program_ended({.code = 7, .said = "no scratch"}, now);
  EXPECT_EQ(tree.spawned, 0);
  EXPECT_EQ(programs.epilogs, 1) << "undoes what the prolog did";
  EXPECT_EQ(programs.told, std::nullopt);
  EXPECT_EQ(report().phase, AttemptPhase::accepted) << "not over";
  machine().program_ended({}, now);
  ASSERT_TRUE(machine().finished());
  spool.content(kKey)->locked = false;
  EXPECT_EQ(report().phase, AttemptPhase::never_ran);
  EXPECT_EQ(report().node_problem, "prolog exited with 7: no scratch");
  EXPECT_EQ(report().detail, "prolog exited with 7: no scratch");
}

TEST_F(SiteProgramsTest, PrologThatCannotBeExecutedIsTheNodesProblem) {
  settings.prolog_timeout = Seconds(60);
  programs.broken = true;
  EXPECT_FALSE(machine().start(now));
  ASSERT_TRUE(machine().finished());
  spool.content(kKey)->locked = false;
  EXPECT_EQ(report().node_problem, "prolog: cannot execute /x");
}

TEST_F(SiteProgramsTest, PrologThatHangsIsKilledAndFails) {
  settings.prolog_timeout = Seconds(60);
  ASSERT_TRUE(machine().start(now));
  EXPECT_EQ(machine().next_deadline(), now.boot + Seconds(60));
  after(Seconds(60));
  EXPECT_EQ(programs.kills, 1);
  EXPECT_FALSE(machine().finished());
  machine().program_ended({.code = 0, .signal = SIGKILL}, now);
  ASSERT_TRUE(machine().finished());
  spool.content(kKey)->locked = false;
  EXPECT_EQ(report().node_problem, "prolog did not end within 60 s");
}

TEST_F(SiteProgramsTest, PrologThatDoesNotDieIsGivenUp) {
  settings.prolog_timeout = Seconds(60);
  ASSERT_TRUE(machine().start(now));
  after(Seconds(60));
  after(Seconds(10));
  EXPECT_TRUE(machine().finished());
}

TEST_F(SiteProgramsTest, CancellingDuringThePrologBlamesNoNode) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(programs.kills, 1);
  machine().program_ended({.code = 0, .signal = SIGKILL}, now);
  EXPECT_EQ(programs.epilogs, 1);
  machine().program_ended({}, now);
  ASSERT_TRUE(machine().finished());
  spool.content(kKey)->locked = false;
  EXPECT_EQ(report().phase, AttemptPhase::never_ran);
  EXPECT_EQ(report().node_problem, "");
}

TEST_F(SiteProgramsTest, EpilogWaitsForAnAttemptCancelledAtItsGate) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  machine().program_ended({}, now);
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(tree.kills, 1);
  EXPECT_EQ(programs.epilogs, 0);
  after(Seconds(1));
  EXPECT_EQ(tree.kills, 2) << "it forked meanwhile";
  machine().tree_gone({}, false, now);
  EXPECT_EQ(programs.epilogs, 1);
  machine().program_ended({}, now);
  EXPECT_TRUE(machine().finished());
  EXPECT_FALSE(dir->has(Record::exit));
}

TEST_F(SiteProgramsTest, FailedEpilogLeavesTheJobsExit) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  machine().program_ended({}, now);
  let_go();
  run_to_the_end(0);
  machine().program_ended({.code = 1, .said = "GPU 2 has 3 GiB in use"}, now);
  ASSERT_TRUE(machine().finished());
  EXPECT_EQ(report().phase, AttemptPhase::done);
  EXPECT_EQ(report().exit.code, 0);
  EXPECT_EQ(report().node_problem, "epilog exited with 1: GPU 2 has 3 GiB in use");
}

TEST_F(SiteProgramsTest, InterruptedEpilogIsTheNodesProblemUntilItReboots) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  machine().program_ended({}, now);
  let_go();
  run_to_the_end(0);
  spool.content(kKey)->locked = false;  // its supervisor was killed
  EXPECT_EQ(report().phase, AttemptPhase::done);
  EXPECT_EQ(report().node_problem, "the epilog did not come to its end: its supervisor was killed");
  EXPECT_EQ(report_attempt(spool, kKey, "another boot")->node_problem, "");
}

TEST_F(SiteProgramsTest, SupervisorKilledBeforeTheEpilogIsTheNodesProblem) {
  with_programs();
  ASSERT_TRUE(machine().start(now));
  spool.content(kKey)->locked = false;
  EXPECT_EQ(report().phase, AttemptPhase::never_ran);
  EXPECT_NE(report().node_problem, "") << "the prolog may have done half of its work";
  spool.content(kKey)->locked = true;
  machine().program_ended({}, now);
  let_go();
  spool.content(kKey)->locked = false;
  EXPECT_EQ(report().phase, AttemptPhase::lost);
  EXPECT_NE(report().node_problem, "");
}

TEST_F(SiteProgramsTest, EpilogWithoutAProlog) {
  settings.epilog_timeout = Seconds(90);
  ASSERT_TRUE(machine().start(now));
  EXPECT_EQ(tree.spawned, 1);
  machine().receive(StepKill{Fence(50), false}, now);
  machine().tree_gone({}, false, now);
  EXPECT_EQ(programs.epilogs, 1);
}

TEST_F(SiteProgramsTest, ProcessesThatDoNotDieAreTheNodesProblemUntilTheyDo) {
  settings.unkillable_after = Seconds(60);
  ASSERT_TRUE(machine().start(now));
  let_go();
  machine().receive(StepKill{Fence(50), true}, now);
  after(Seconds(59));
  EXPECT_EQ(report().node_problem, "");
  after(Seconds(1));
  EXPECT_EQ(report().phase, AttemptPhase::running);
  EXPECT_EQ(report().node_problem, "processes of job 12 do not die: 4711 (python3, D)");
  machine().tree_gone({}, false, now);
  EXPECT_TRUE(machine().finished());
  EXPECT_EQ(report().phase, AttemptPhase::done);
  EXPECT_EQ(report().node_problem, "");
}

}  // namespace
}  // namespace ares::node
