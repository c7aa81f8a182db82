// Kills the daemon or a supervisor at every call with a durable effect, once before and once after
// the effect, and checks what a controller that repeats its messages gets from the node afterwards.
#include <gtest/gtest.h>

#include "unit/node/world.h"

namespace ares::node {
namespace {

enum class Plan { run, cancel_early, cancel_at_gate, cancel_running };
enum class Loss { process, power };

struct Outcome {
  std::optional<AttemptReport> end;  // as reported to the controller
  bool refused = false;
  bool crashed = false;
};

bool was_refused(const World& world) {
  for (const FromNode& message : world.sent)
    if (std::holds_alternative<LaunchRefused>(message.body)) return true;
  return false;
}

// A controller that wants one attempt to run or be cancelled, repeats unanswered messages, and sends Forget at the end.
Outcome control(World& world, const Prepare& prepare, Plan plan, Loss loss) {
  Outcome outcome;
  const Kill kill{kKey, prepare.launch.fence};
  bool cancelled = false;
  for (int round = 0; round < 30; ++round) {
    if (!world.daemon_alive()) {
      outcome.crashed = true;
      if (loss == Loss::power)
        world.lose_power();
      else
        world.restart_daemon();
      world.settle();
    }
    world.welcome();
    world.settle();
    const std::optional<AttemptReport> report = world.report(kKey);
    if (!report) {
      if (outcome.end) return outcome;  // forgotten
      if (was_refused(world)) {
        outcome.refused = true;
        return outcome;
      }
      world.tell(prepare);
      if (plan == Plan::cancel_early) {
        world.tell(kill);
        cancelled = true;
      }
    } else if (has_ended(report->phase)) {
      outcome.end = report;
      world.tell(Forget{kKey, report->fence});
    } else if (cancelled || plan == Plan::cancel_early) {
      world.tell(kill);
    } else if (report->phase == AttemptPhase::ready) {
      if (plan == Plan::cancel_at_gate) {
        world.tell(kill);
        cancelled = true;
      } else
        world.tell(Go{kKey, prepare.launch.fence});
    } else if (report->phase == AttemptPhase::running) {
      if (plan == Plan::cancel_running) {
        world.tell(kill);
        cancelled = true;
      } else
        world.end_task(kKey, 4);
    }
    world.settle();
    world.advance(Seconds(40));
  }
  ADD_FAILURE() << "the controller never got an end";
  return outcome;
}

void check(World& world, const Prepare& prepare, const Outcome& outcome, Plan plan) {
  const int starts = world.starts[kKey];
  EXPECT_LE(starts, 1);
  if (outcome.end) {
    switch (outcome.end->phase) {
      case AttemptPhase::done:
        EXPECT_EQ(starts, 1);
        EXPECT_EQ(outcome.end->exit.code, plan == Plan::run ? 4 : 0);
        break;
      case AttemptPhase::never_ran: EXPECT_EQ(starts, 0); break;
      case AttemptPhase::lost: EXPECT_TRUE(outcome.crashed || world.step_fate.count() > 0); break;
      default: ADD_FAILURE() << "not an end";
    }
  }
  // Each message that was sent is delivered once more.
  world.tell(prepare);
  world.settle();
  world.tell(Go{kKey, prepare.launch.fence});
  world.settle();
  world.advance(Seconds(60));
  EXPECT_EQ(world.starts[kKey], starts);
  EXPECT_EQ(world.running(kKey), 0);
}

struct Case {
  Plan plan;
  Loss loss;
  bool daemon;  // whether the daemon dies; else the supervisor
};

class Crash : public ::testing::TestWithParam<Case> {};

TEST_P(Crash, UserCodeStartsAtMostOnce) {
  const Case& c = GetParam();
  for (bool after : {false, true}) {
    for (std::size_t call = 1; call < 60; ++call) {
      SCOPED_TRACE("call " + std::to_string(call) + (after ? " after" : " before"));
      World world;
      Fate& fate = c.daemon ? world.daemon_fate : world.step_fate;
      const Prepare prepare = make_prepare(world);
      fate.die_at(call, after);
      const Outcome outcome = control(world, prepare, c.plan, c.loss);
      const bool reached = fate.count() >= call || outcome.crashed;
      fate.never();
      check(world, prepare, outcome, c.plan);
      if (::testing::Test::HasFailure()) return;
      if (!reached) {
        EXPECT_GT(call, 3u) << "there must be something to interrupt";
        break;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  static constexpr const char* kPlans[] = {"Run", "CancelEarly", "CancelAtGate", "CancelRunning"};
  return std::string(kPlans[static_cast<int>(info.param.plan)]) +
         (info.param.daemon ? "Daemon" : "Supervisor") +
         (info.param.loss == Loss::power ? "PowerLoss" : "Killed");
}

INSTANTIATE_TEST_SUITE_P(All, Crash,
                         ::testing::Values(Case{Plan::run, Loss::process, true},
                                           Case{Plan::run, Loss::power, true},
                                           Case{Plan::run, Loss::process, false},
                                           Case{Plan::cancel_early, Loss::process, true},
                                           Case{Plan::cancel_early, Loss::power, true},
                                           Case{Plan::cancel_early, Loss::process, false},
                                           Case{Plan::cancel_at_gate, Loss::process, true},
                                           Case{Plan::cancel_at_gate, Loss::power, true},
                                           Case{Plan::cancel_at_gate, Loss::process, false},
                                           Case{Plan::cancel_running, Loss::process, true},
                                           Case{Plan::cancel_running, Loss::power, true},
                                           Case{Plan::cancel_running, Loss::process, false}),
                         name_of);

}  // namespace
}  // namespace ares::node
