#include "sim/world.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sim/controller.h"
#include "sim/node_daemon.h"

namespace ares::sim {
namespace {

constexpr Instant kPatience = 300s;  // time after the last fault within which everything must end

std::shared_ptr<const Policy> make_policy(Random& random, const Options& options, bool limited) {
  Policy policy;
  policy.cluster_name = "sim";
  policy.config_hash = 7;
  policy.admins = {UserId(0)};
  policy.lease = Seconds(30);
  policy.heartbeat = Seconds(5);
  policy.kill_wait = Seconds(2);
  policy.kill_allowance = Seconds(4);
  policy.min_job_age = Seconds(random.percent(50) ? 20 : 3000);
  policy.request_retention = Seconds(24 * 3600);
  policy.start_barrier = Seconds(20);
  policy.prepare_timeout = Seconds(15);
  // Shorter than some outages, and never in a third of the worlds.
  const bool never = options.seed % 3 == 0 && !options.dead_node;
  policy.dead_node_timeout = Seconds(never ? 0 : 36 + options.seed % 25);
  policy.launch_backoff = Seconds(1);
  policy.launch_backoff_max = Seconds(8);
  auto shares = std::make_shared<Fairness>();
  shares->half_life = Seconds(0);  // so that usage equals what ran
  policy.fairness.value = std::move(shares);
  policy.preemption = {.min_age = Seconds(1), .grace = Seconds(3), .per_hour = 6, .per_day = 8};
  if (limited) policy.accounting.enforce = Enforce::limits;
  return std::make_shared<const Policy>(std::move(policy));
}

}  // namespace

World::World(const Options& options)
    : options_(options),
      stage_(options.seed, options.verbose, options.mutant),
      policy_(make_policy(stage_.random, options, has_limits())),
      observer_(stage_, *policy_),
      database_(stage_),
      network_(stage_, *this),
      clients_(stage_, *this),
      clocks_(options.seed * 31 + 7) {
  stage_.observer = &observer_;
  observer_.watch(database_);
  const std::uint32_t count =
      options.fixed_scenario ? 2 : static_cast<std::uint32_t>(stage_.random.between(2, 4));
  // A separate generator, so that schedules without such a machine do not change.
  Random trials(~options.seed);
  for (std::uint32_t i = 0; i < count; ++i) {
    network_.add_machine();
    Machine::Traits traits;
    traits.name = "n" + std::to_string(i + 1);
    traits.can_freeze = options.fixed_scenario || !stage_.random.percent(20);
    traits.trial_may_fail = !options.fixed_scenario && traits.can_freeze && trials.percent(20);
    machines_.push_back(std::make_unique<Machine>(stage_, network_, i, std::move(traits)));
  }
}

World::~World() = default;

ApplyConfig World::configuration() const {
  ApplyConfig config;
  config.hash = policy_->config_hash;
  config.lease = policy_->lease;
  Partition partition;
  partition.name = "main";
  partition.is_default = true;
  if (has_limits()) partition.qos = kPartitionQos;
  for (const auto& machine : machines_) {
    partition.nodes.push_back(machine->name());
    Inventory inventory;
    inventory.cpus = machine->traits().cpus;
    inventory.memory = Bytes(8LL << 30);
    config.nodes.emplace_back(machine->name(), inventory);
  }
  config.partitions = {partition};
  if (!has_tiers()) return config;
  config.partitions.front().preempt_mode =
      options_.seed % 3 == 0 ? PreemptMode::suspend : PreemptMode::requeue;
  partition.name = "high";
  partition.is_default = false;
  partition.tier = 2;
  config.partitions.push_back(partition);
  return config;
}

// --- controllers --------------------------------------------------------------------------------

void World::start_controller() {
  Clock clock;
  clock.wall_offset = stage_.random.between(Duration(-5s), Duration(5s));
  // In some worlds the clock of a controller's machine is days off, before or after.
  if (has_clock_jumps() && clocks_.percent(50))
    clock.wall_offset +=
        clocks_.between(Duration(-std::chrono::days(3)), Duration(std::chrono::days(3)));
  controllers_.push_back(
      std::make_unique<Controller>(stage_, *this, stage_.timeline.open(), clock));
  controllers_.back()->start();
}

void World::kill_controller(Life life) {
  const auto found = std::find_if(controllers_.begin(), controllers_.end(),
                                  [&](const auto& c) { return c->life() == life; });
  if (found == controllers_.end()) return;
  stage_.note("controller dies", life.slot);
  stage_.timeline.close(life);
  controllers_.erase(found);
  network_.controller_died(life);
  if (controllers_.empty())
    stage_.timeline.after(stage_.random.between(Duration(100ms), Duration(3s)), Timeline::world(),
                          [this] {
                            if (controllers_.empty()) start_controller();
                          });
}

Controller* World::controller_of(Life life) {
  for (const auto& controller : controllers_)
    if (controller->life() == life) return controller.get();
  return nullptr;
}

// The newest controller, and sometimes one that it has taken over from.
Controller* World::found_by_nodes() {
  if (controllers_.size() > 1 && stage_.random.percent(5)) return endpoint();
  return controllers_.empty() || !controllers_.back()->active() ? nullptr
                                                                : controllers_.back().get();
}

// Calls may still reach a controller that another one has taken over from.
Controller* World::endpoint() {
  Controller* last = nullptr;
  for (const auto& controller : controllers_) {
    if (!controller->active()) continue;
    if (last && stage_.random.percent(20)) continue;
    last = controller.get();
  }
  return last;
}

// --- the controllers' host ----------------------------------------------------------------------

void World::opened(const store::Opened& opened, const std::string& holder) {
  const ClusterState& state = opened.state;
  store::HighWaterMark mark;
  mark.system = opened.system;
  mark.position = {state.history, opened.epoch, holder, state.lsn, state.next_job_id};
  mark.next_node_id = state.next_node_id;
  mark_ = store::with_reserve(std::move(mark), store::kReservedIds);
  accept_rollback_ = false;
}

void World::committed(Epoch epoch, const ClusterState& after) {
  if (mark_) store::advance(*mark_, epoch, after.lsn, after.next_job_id, after.next_node_id);
}

void World::refused(const std::string& why) {
  stage_.note("controller refuses the database", 0, 0, [&] { return why; });
  observer_.refused();
  accept_rollback_ = true;  // there is no newer copy
}

// One that was taken over from says so too, and ends by itself.
void World::objected(Life controller, const core::Objection& objection) {
  stage_.note("controller acknowledges nothing more", controller.slot, 0,
              [&] { return objection.why; });
  if (!options_.restores) return;
  if (mark_) mark_ = store::raised_to(std::move(*mark_), objection.heard);
  observer_.refused();
  stage_.timeline.after(stage_.random.between(Duration(1s), Duration(20s)), Timeline::world(),
                        [this, controller] {
                          accept_rollback_ = true;
                          kill_controller(controller);
                        });
}

// --- faults -------------------------------------------------------------------------------------

// Always the same entries: an outbox that loses them, without repetition.
bool World::loses(const Effect& effect) {
  if (std::holds_alternative<Welcome>(effect.body) ||
      std::holds_alternative<HeartbeatAck>(effect.body))
    return false;
  return std::hash<std::string>{}(text_of(effect.body)) % 8 == 0;
}

void World::database_stops() {
  database_.stop();
  stage_.timeline.after(stage_.random.between(Duration(50ms), Duration(6s)), Timeline::world(),
                        [this] { database_.start(); });
}

void World::heal() {
  if (healed_) return;
  healed_ = true;
  stage_.note("everything heals");
  stage_.boundaries.disarm();
  lost_calls_ = 0;
  network_.set_duplicates(0);
  database_.set_doubt(0);
  database_.start();
  database_.set_full(false);
  database_.cut_off({});
  for (auto& machine : machines_) {
    if (machine->index() == away_) continue;
    network_.cut(machine->index(), false);
    network_.stall(machine->index(), true, true, stage_.now());
    machine->disk().full = false;
    machine->power_on();
  }
  look_whether_done();
}

bool World::has_jobs_on_nodes() const {
  const auto& states = database_.last_states();
  return std::any_of(states.begin(), states.end(),
                     [](const auto& job) { return holds_resources(job.second); });
}

std::string World::unsettled() const {
  if (!clients_.all_answered()) return "a request has no answer";
  if (away_) return "jobs wait for the word of " + machines_[*away_]->name();
  if (std::string text = observer_.unfinished(); !text.empty()) return text;
  for (const auto& [key, state] : database_.last_states())
    if (!is_terminal(state)) return "job " + std::to_string(key.job.value()) + " has not ended";
  std::string text;
  database_.replayed().nodes.for_each([&](NodeId, const Node& node) {
    if (!node.charges.empty()) text = node.name + " is still charged";
  });
  for (const auto& machine : machines_) {
    if (!machine->idle()) text = machine->name() + " still runs something";
    if (!machine->aresd() || machine->aresd()->attempts() != 0)
      text = machine->name() + " still remembers an attempt";
    if (!machine->disk().directories.empty()) text = machine->name() + " keeps a directory";
  }
  return text;
}

void World::look_whether_done() {
  clients_.tidy_up();
  if (away_ && !has_jobs_on_nodes()) {
    network_.cut(*away_, false);
    machines_[*away_]->power_on();
    away_.reset();
  }
  unsettled_ = unsettled();
  if (unsettled_.empty()) {
    done_ = true;
    return;
  }
  stage_.timeline.after(3s, Timeline::world(), [this] { look_whether_done(); });
}

// --- the run ------------------------------------------------------------------------------------

// Removes a process that was killed, outside of its own functions.
template <class Event>
void World::guarded(Event&& event) {
  try {
    event();
  } catch (const Killed& killed) {
    if (controller_of(killed.process)) return kill_controller(killed.process);
    for (auto& machine : machines_)
      if (machine->end_life(killed.process)) return;
  } catch (const PowerLost& lost) {
    Machine& machine = *machines_[lost.machine];
    machine.lose_power();
    stage_.timeline.after(stage_.random.between(Duration(1s), Duration(20s)), Timeline::world(),
                          [&machine] { machine.power_on(); });
  }
}

// With limits the account exists before any submission, because jobs need it. Every single job is within the limits.
void World::found_account() {
  if (has_limits())
    clients_.found_account(Duration(0), Limits{{LimitKind::grp_jobs, "", 3},
                                               {LimitKind::grp_jobs_accrue, "", 2},
                                               {LimitKind::grp_tres, "cpu", 8}});
  else
    clients_.found_account(Duration(1ms) * (options_.seed % 9000), {});
}

Outcome World::run() {
  Outcome outcome;
  try {
    guarded([&] { start_controller(); });
    for (auto& machine : machines_) guarded([&] { machine->start_aresd(); });
    // In half of the schedules: early, or while jobs run.
    if (!options_.fixed_scenario && options_.seed % 2 == 0) found_account();
    if (options_.restores) {
      plan_restores();
    } else if (options_.dead_node) {
      plan_dead_node();
    } else if (options_.fixed_scenario) {
      plan_fixed_scenario();
    } else if (const auto kind = stage_.random.below(100); kind < 10) {
      plan_silence();
    } else if (kind < 16) {
      plan_takeover();
    } else {
      const Instant end = stage_.random.between(Duration(10s), Duration(60s));
      const std::uint64_t operations = 3 + stage_.random.below(8);
      for (std::uint64_t i = 0; i < operations; ++i)
        clients_.plan_operation(stage_.random.between(Duration(0), end));
      plan_faults(end);
    }
    const Instant limit = 120s + kPatience;
    bool more = true;
    while (!done_ && more) {
      guarded([&] { more = stage_.timeline.step(limit); });
      if (observer_.take_database_deaths() > 0) database_stops();
    }
    if (!done_) throw Violation{"not over long after every fault was healed: " + unsettled_};
    database_.compare_rows();
    observer_.check_accounting();
    observer_.check_usage();
  } catch (const Violation& violation) {
    outcome.violation = violation.what;
    stage_.note("VIOLATION", 0, 0, [&] { return violation.what; });
  }
  outcome.trace_hash = stage_.trace.hash();
  outcome.steps = stage_.timeline.steps();
  outcome.user_starts = observer_.user_starts();
  outcome.freezes = observer_.freezes();
  outcome.stopped_by_check = observer_.controllers_stopped_by_check();
  outcome.jobs = observer_.acknowledged_jobs();
  outcome.refusals = observer_.refusals();
  outcome.events = database_.events().size();
  for (const auto& [lsn, event] : database_.events())
    if (const auto* fenced = std::get_if<NodeFenced>(&event->body))
      outcome.given_up += fenced->cause.empty() ? 0 : 1;
  for (std::size_t i = 0; i < kActors; ++i)
    outcome.boundaries[i] = stage_.boundaries.passed(static_cast<Actor>(i));
  outcome.trace.assign(stage_.trace.lines().begin(), stage_.trace.lines().end());
  return outcome;
}

Outcome run(const Options& options) {
  return World(options).run();
}

std::string report(const Options& options, const Outcome& outcome) {
  if (!outcome.violation) return "";
  Options again = options;
  again.verbose = true;
  const Outcome traced = run(again);
  std::string text = "seed " + std::to_string(options.seed);
  for (const CrashPoint& crash : options.crashes)
    text += std::string(", crash of ") + name_of(crash.actor) + " at " + std::to_string(crash.nth);
  if (options.mutant != Mutant::none) text += ", mutant " + name_of(options.mutant);
  text += ": " + *outcome.violation + "\n";
  const std::size_t keep = std::getenv("ARES_SIM_TRACE") ? traced.trace.size() : 120;
  const std::size_t from = traced.trace.size() > keep ? traced.trace.size() - keep : 0;
  for (std::size_t i = from; i < traced.trace.size(); ++i) text += "  " + traced.trace[i] + "\n";
  text += "Run it again with ARES_SIM_SEED=" + std::to_string(options.seed) +
          " ARES_SIM_SCHEDULES=1; ARES_SIM_TRACE=1 prints the whole trace.\n";
  return text;
}

}  // namespace ares::sim
