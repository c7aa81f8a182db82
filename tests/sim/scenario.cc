// What happens in a schedule: the faults of a random one, and the small fixed one whose crash
// points are tried one by one.
#include <algorithm>

#include "sim/controller.h"
#include "sim/world.h"

namespace ares::sim {

void World::plan_faults(Instant end) {
  Random& random = stage_.random;
  // Which kinds happen at all differs from schedule to schedule, so that each is also seen alone.
  lost_calls_ = random.percent(40) ? 100 : 0;
  if (random.percent(30)) network_.set_duplicates(static_cast<unsigned>(random.between(5, 60)));
  if (random.percent(35)) database_.set_doubt(static_cast<unsigned>(random.between(5, 80)));
  const std::uint64_t faults = random.below(7);
  for (std::uint64_t i = 0; i < faults; ++i) plan_fault(end);
  stage_.timeline.at(end + stage_.random.between(Duration(1s), Duration(45s)), Timeline::world(),
                     [this] { heal(); });
}

void World::plan_fault(Instant end) {
  Random& random = stage_.random;
  const Instant when = random.between(Duration(100ms), end);
  const auto at = [this](Instant t, std::function<void()> what) {
    stage_.timeline.at(t, Timeline::world(), [this, what = std::move(what)] {
      if (!healed_) what();
    });
  };
  const auto m = static_cast<std::uint32_t>(random.below(machines_.size()));
  const Instant until = when + (random.percent(50) ? random.between(Duration(1s), Duration(15s))
                                                   : random.between(Duration(25s), Duration(70s)));
  const std::uint64_t nth = 1 + random.below(random.percent(50) ? 20 : 200);
  switch (random.below(16)) {
    case 0: at(when, [this, nth] { stage_.boundaries.arm(Actor::controller, nth); }); break;
    case 1: at(when, [this, nth] { stage_.boundaries.arm(Actor::aresd, nth); }); break;
    case 2: at(when, [this, nth] { stage_.boundaries.arm(Actor::stepd, nth); }); break;
    case 3: at(when, [this, nth] { stage_.boundaries.arm(Actor::power, nth); }); break;
    case 4: at(when, [this, nth] { stage_.boundaries.arm(Actor::database, 1 + nth / 10); }); break;
    case 5:
      at(when, [this] {
        if (!controllers_.empty()) kill_controller(controllers_.back()->life());
      });
      break;
    case 6: at(when, [this, m] { machines_[m]->kill_aresd(); }); break;
    case 7: at(when, [this, m] { machines_[m]->kill_some_step(); }); break;
    case 8:
      at(when, [this, m] { machines_[m]->lose_power(); });
      at(until, [this, m] { machines_[m]->power_on(); });
      break;
    case 9:
      at(when, [this] { database_.stop(); });
      at(until, [this] { database_.start(); });
      break;
    case 10:
    case 11:
      at(when, [this, m] { network_.cut(m, true); });
      at(until, [this, m] { network_.cut(m, false); });
      break;
    case 12: at(when, [this, m] { network_.break_session(m); }); break;
    case 13: {
      const bool up = random.percent(60), down = random.percent(60);
      at(when, [this, m, up, down, until] { network_.stall(m, up, down, until); });
      break;
    }
    case 14:
      if (random.percent(50)) {  // a machine that stands still for less than the allowance
        const Duration stop = random.between(Duration(100ms), Duration(2s));
        at(when, [this, m, stop] { machines_[m]->pause(stage_.now() + stop); });
      } else {
        at(when, [this, m] { machines_[m]->disk().full = true; });
        at(until, [this, m] { machines_[m]->disk().full = false; });
      }
      break;
    default: {  // a standby takes over, while the controller before it may stand still
      const bool stands_still = random.percent(60);
      at(when, [this, stands_still, until] {
        if (controllers_.empty()) return;
        if (stands_still) stage_.timeline.pause(controllers_.back()->life(), until);
        start_controller();
      });
      break;
    }
  }
}

// A single job, a gang, an array, a failing one that is requeued by hand and one that is cancelled.
void World::plan_fixed_scenario() {
  const auto job = [] {
    JobSpec spec = Clients::plain_job();
    spec.requeue = true;
    return spec;
  };
  clients_.submit(500ms, job(), {.runs = 1s});
  JobSpec gang = job();
  gang.min_nodes = gang.max_nodes = gang.tasks = 2;
  gang.tasks_per_node = 1;
  clients_.submit(700ms, gang, {.runs = 2s});
  JobSpec array = job();
  IntervalSet tasks;
  tasks.insert(1, 2);
  array.array = tasks;
  clients_.submit(900ms, array, {.runs = 500ms});
  JobSpec stubborn = job();
  stubborn.requeue = false;
  stubborn.time_limit = Seconds(1);
  clients_.submit(1s, stubborn, {.runs = 20s, .exit_code = 0, .ignores_term = true});
  const auto failing = clients_.submit(1200ms, job(), {.runs = 300ms, .exit_code = 3});
  clients_.act(6s, failing, RequeueJobs{});
  const auto long_one = clients_.submit(1400ms, job(), {.runs = 100s});
  clients_.act(5s, long_one, Cancel{});
  for (const CrashPoint& crash : options_.crashes) stage_.boundaries.arm(crash.actor, crash.nth);
  stage_.timeline.at(20s, Timeline::world(), [this] { heal(); });
}

}  // namespace ares::sim
