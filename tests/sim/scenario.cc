// The events of a schedule: random faults, and the small fixed scenario whose crash points are
// tried one by one.
#include <algorithm>

#include "core/cluster/heard_position.h"
#include "node/records.h"
#include "sim/controller.h"
#include "sim/world.h"

namespace ares::sim {

// Long jobs, and one node that is silent for longer than its lease.
void World::plan_silence() {
  Random& random = stage_.random;
  const auto jobs = random.between(1, static_cast<std::int64_t>(machines_.size()));
  for (std::int64_t i = 0; i < jobs; ++i) {
    JobSpec spec = Clients::plain_job();
    spec.cpus_per_task = static_cast<std::uint32_t>(random.between(2, 4));
    clients_.submit(random.between(Duration(0), Duration(4s)), spec,
                    {.runs = random.between(Duration(40s), Duration(90s))});
  }
  const auto m = static_cast<std::uint32_t>(random.below(machines_.size()));
  Instant when = random.between(Duration(4s), Duration(12s));
  if (machines_[m]->traits().trial_may_fail) {
    // The daemon restarts with another result of its freezer check than when the jobs began, and is silent after that.
    stage_.timeline.at(when, Timeline::world(), [this, m] { machines_[m]->kill_aresd(); });
    when += 7s;
  }
  // In half of the schedules the replies to the last received heartbeats come late.
  const Duration late = random.between(Duration(8s), Duration(14s));
  const Duration heard = random.between(Duration(1s), Duration(5500ms));
  const Instant until = when + random.between(Duration(45s), Duration(80s));
  const bool late_answers = random.percent(50);
  stage_.timeline.at(when, Timeline::world(), [this, m, late, late_answers] {
    if (late_answers)
      network_.stall(m, false, true, stage_.now() + late);
    else
      network_.cut(m, true);
  });
  if (late_answers)
    stage_.timeline.at(when + heard, Timeline::world(),
                       [this, m, until] { network_.stall(m, true, false, until); });
  stage_.timeline.at(until, Timeline::world(), [this, m] { network_.cut(m, false); });
  stage_.timeline.at(until + 1s, Timeline::world(), [this] { heal(); });
}

// A node is cut off, so that its jobs run on, or is without power. It stays away until no job waits
// for its word, and comes back then.
void World::plan_dead_node() {
  Random& random = stage_.random;
  const Instant end = random.between(Duration(10s), Duration(30s));
  for (std::uint64_t i = 0; i < 4 + random.below(8); ++i)
    clients_.plan_operation(random.between(Duration(0), end));
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    JobSpec spec = Clients::plain_job();
    spec.requeue = random.percent(40);
    spec.cpus_per_task = static_cast<std::uint32_t>(random.between(1, 2));
    clients_.submit(random.between(Duration(0), Duration(4s)), spec,
                    {.runs = random.between(Duration(5s), Duration(150s))});
  }
  const auto m = static_cast<std::uint32_t>(random.below(machines_.size()));
  const Instant when = random.between(Duration(2s), end);
  stage_.timeline.at(when, Timeline::world(), [this, m, runs_on = random.percent(50)] {
    away_ = m;
    if (runs_on)
      network_.cut(m, true);
    else
      machines_[m]->lose_power();
  });
  if (random.percent(40))
    stage_.timeline.at(when + random.between(Duration(1s), Duration(60s)), Timeline::world(),
                       [this] {
                         if (!controllers_.empty()) kill_controller(controllers_.back()->life());
                       });
  stage_.timeline.at(end + random.between(Duration(1s), Duration(45s)), Timeline::world(),
                     [this] { heal(); });
}

// A standby takes over from a controller that keeps running: it may be paused meanwhile, or cut off
// from the database. Nodes stay with it until it is silent or their session breaks.
void World::take_over(Duration stands_still, Duration cut_off) {
  if (controllers_.empty()) return;
  const Life old = controllers_.back()->life();
  stage_.note("taken over", old.slot);
  if (stands_still > Duration(0)) stage_.timeline.pause(old, stage_.now() + stands_still);
  if (cut_off > Duration(0)) {
    database_.cut_off(old);
    stage_.timeline.after(cut_off, Timeline::world(), [this] { database_.cut_off({}); });
  }
  start_controller();
}

// Long jobs, and a takeover that only some of the nodes notice: the old controller has nothing to
// commit but still gets requests.
void World::plan_takeover() {
  Random& random = stage_.random;
  const auto jobs = random.between(1, static_cast<std::int64_t>(machines_.size()));
  for (std::int64_t i = 0; i < jobs; ++i) {
    JobSpec spec = Clients::plain_job();
    spec.cpus_per_task = static_cast<std::uint32_t>(random.between(2, 4));
    clients_.submit(random.between(Duration(0), Duration(3s)), spec,
                    {.runs = random.between(Duration(60s), Duration(110s))});
  }
  const Instant when = random.between(Duration(4s), Duration(12s));
  const Duration stands_still =
      random.percent(40) ? random.between(Duration(1s), Duration(60s)) : Duration(0);
  const Duration cut_off =
      random.percent(50) ? random.between(Duration(1s), Duration(70s)) : Duration(0);
  stage_.timeline.at(when, Timeline::world(),
                     [this, stands_still, cut_off] { take_over(stands_still, cut_off); });
  for (std::uint32_t m = 0; m < machines_.size(); ++m) {
    if (random.percent(40)) continue;
    stage_.timeline.at(when + random.between(Duration(1s), Duration(15s)), Timeline::world(),
                       [this, m] { network_.break_session(m); });
  }
  stage_.timeline.at(when + random.between(Duration(50s), Duration(80s)), Timeline::world(),
                     [this] { heal(); });
}

// If the controller's mark or a node goes beyond the copy, it must be refused before anything is
// acknowledged again.
void World::restore(const Database::Contents& copy, bool with_mark) {
  if (controllers_.empty() || healed_) return;
  kill_controller(controllers_.back()->life());
  const Database::Contents lost = database_.contents();
  database_.restore(copy);
  ClusterState state = database_.replayed();
  state.epoch = copy.epoch.next();  // of the controller that opens it
  if (!with_mark) mark_.reset();
  bool known = with_mark && lost.rows.lsn > copy.rows.lsn;
  for (const auto& machine : machines_) {
    const auto identity = node::decode_identity(machine->disk().identity.value_or(""));
    if (!identity || state.node_ids.find(machine->name()) == nullptr) continue;
    const Node* node = state.nodes.find(*state.node_ids.find(machine->name()));
    const bool called = node && node->contact != Contact::never;
    known =
        known || (called && core::compare_heard(state, {state.epoch, copy.rows.lsn},
                                                identity->position) == core::HeardPosition::later);
  }
  observer_.database_restored(lost, known);
}

// Copies are taken while the cluster works, and restored later: with the directory that the
// controller keeps its mark in or without it, once or twice.
void World::plan_restores() {
  Random& random = stage_.random;
  const Instant copied = random.between(Duration(1s), Duration(12s));
  const Instant restored =
      copied + (random.percent(50) ? random.between(Duration(1ms), Duration(1s))
                                   : random.between(Duration(1s), Duration(20s)));
  const Instant again = restored + random.between(Duration(1s), Duration(60s));
  const Instant end = again + 10s;
  for (std::uint64_t i = 0; i < 6 + random.below(10); ++i)
    clients_.plan_operation(random.between(Duration(0), end));
  // Some right before and after it.
  clients_.plan_operation(restored - random.between(Duration(1ms), Duration(900ms)));
  clients_.plan_operation(restored + random.between(Duration(1ms), Duration(5s)));
  if (random.percent(30)) network_.set_duplicates(static_cast<unsigned>(random.between(5, 60)));
  const auto copy = std::make_shared<Database::Contents>();
  const auto at = [this](Instant when, std::function<void()> what) {
    stage_.timeline.at(when, Timeline::world(), std::move(what));
  };
  at(copied, [this, copy] { *copy = database_.contents(); });
  at(restored, [this, copy, kept = random.percent(50)] { restore(*copy, kept); });
  if (random.percent(30))
    at(again, [this, copy, kept = random.percent(50)] { restore(*copy, kept); });
  for (std::uint64_t i = 0; i < random.below(3); ++i) {
    const auto m = static_cast<std::uint32_t>(random.below(machines_.size()));
    const Instant when = random.between(Duration(1s), end);
    if (random.percent(50))
      at(when, [this, m] { machines_[m]->kill_aresd(); });
    else
      at(when, [this, m] { network_.break_session(m); });
  }
  at(end + 40s, [this] { heal(); });
}

void World::plan_faults(Instant end) {
  Random& random = stage_.random;
  // The kinds of faults differ between schedules, so that each also occurs alone.
  lost_calls_ = random.percent(40) ? 100 : 0;
  if (random.percent(30)) network_.set_duplicates(static_cast<unsigned>(random.between(5, 60)));
  if (random.percent(35)) database_.set_doubt(static_cast<unsigned>(random.between(5, 80)));
  if (random.percent(20))
    stage_.timeline.at(random.between(Duration(0), end), Timeline::world(),
                       [this, nth = 1 + random.below(25)] {
                         if (!healed_) stage_.boundaries.arm_after_exit(nth);
                       });
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
  switch (random.below(20)) {
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
      if (nth % 2 == 0) {
        at(when, [this] { database_.set_full(true); });
        at(until, [this] { database_.set_full(false); });
        break;
      }
      at(when, [this] { database_.stop(); });
      at(until, [this] { database_.start(); });
      break;
    case 10:
    case 11:
      at(when, [this, m] { network_.cut(m, true); });
      at(until, [this, m] { network_.cut(m, false); });
      break;
    case 12: at(when, [this, m] { network_.break_session(m); }); break;
    case 13:
    case 15: {
      const bool up = random.percent(60), down = random.percent(60);
      const Duration late = random.between(Duration(1s), Duration(14s));
      if (random.percent(50)) {
        at(when, [this, m, up, down, until] { network_.stall(m, up, down, until); });
      } else {  // the last replies come late, and no more messages get through
        at(when, [this, m, late] {
          network_.stall(m, true, false, stage_.now() + 60s);
          network_.stall(m, false, true, stage_.now() + late);
        });
      }
      break;
    }
    case 14:
      if (random.percent(50)) {  // a machine that pauses for less than the allowance
        const Duration stop = random.between(Duration(100ms), Duration(2s));
        at(when, [this, m, stop] { machines_[m]->pause(stage_.now() + stop); });
      } else {
        at(when, [this, m] { machines_[m]->disk().full = true; });
        at(until, [this, m] { machines_[m]->disk().full = false; });
      }
      break;
    case 16: {
      const Duration stands_still = random.percent(50) ? until - when : Duration(0);
      const Duration cut_off = random.percent(40) ? until - when : Duration(0);
      at(when, [this, stands_still, cut_off] { take_over(stands_still, cut_off); });
      break;
    }
    case 17:
      if (nth % 3 == 0)
        at(when, [this, m] { machines_[m]->kill_fork_server(); });
      else if (nth % 3 == 1)
        at(when, [this, nth] { stage_.boundaries.arm(Actor::fork_server, 1 + nth / 10); });
      else
        at(when, [this, m, until] { machines_[m]->stop_fork_server(until); });
      break;
    default: at(when, [this, nth] { stage_.boundaries.arm_after_exit(1 + nth % 30); }); break;
  }
}

// A single job, a gang, an array, a failing job that is requeued by an operator, and one that is cancelled.
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
