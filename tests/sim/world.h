// World: one simulated cluster: machines, network, database, controllers, clients and
// faults. Built from a seed, run once. One thread; several worlds may run at the same
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/command.h"
#include "model/policy/policy.h"
#include "sim/clients.h"
#include "sim/database.h"
#include "sim/machine.h"
#include "sim/network.h"
#include "sim/observer.h"
#include "sim/stage.h"

namespace ares::sim {

class Controller;

// A crash at one boundary of a scenario that has no other faults.
struct CrashPoint {
  Actor actor = Actor::controller;
  std::uint64_t nth = 0;
};

struct Options {
  std::uint64_t seed = 1;
  bool verbose = false;
  Mutant mutant = Mutant::none;
  bool fixed_scenario = false;      // fixed events; only their durations are random
  std::vector<CrashPoint> crashes;  // of the fixed scenario
  bool restores = false;            // of older copies of the database
  bool dead_node = false;           // one stays away until all jobs have ended without it
};

struct Outcome {
  std::optional<std::string> violation;
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t user_starts = 0;
  std::uint64_t freezes = 0;
  std::uint64_t stopped_by_check = 0;  // controllers that were superseded
  std::uint64_t jobs = 0;
  std::uint64_t refusals = 0;  // of older copies of the database
  std::uint64_t given_up = 0;  // attempts that ended without the word of their node
  std::uint64_t events = 0;    // journaled
  std::uint64_t boundaries[kActors] = {};
  std::vector<std::string> trace;  // if verbose
};

Outcome run(const Options& options);
// If the run failed, runs it again with a trace: the information needed to find the bug.
std::string report(const Options& options, const Outcome& outcome);

class World {
 public:
  explicit World(const Options& options);
  ~World();

  Outcome run();

  // --- access for the actors of the world ---
  Machine& machine(std::uint32_t index) { return *machines_[index]; }
  std::uint32_t machines() const { return static_cast<std::uint32_t>(machines_.size()); }
  Network& network() { return network_; }
  Database& database() { return database_; }
  Observer& observer() { return observer_; }
  Controller* endpoint();  // the controller that a call reaches; null: none
  Controller* found_by_nodes();
  Controller* controller_of(Life life);
  void answer(std::uint64_t operation, const core::Reply& reply) {
    clients_.answered(operation, reply);
  }

  // --- what the controllers' host remembers, and what its administrator does ---
  Acceptance acceptance() const { return {mark_, accept_rollback_}; }
  void opened(const store::Opened& opened, const std::string& holder);
  void committed(Epoch epoch, const ClusterState& after);
  void refused(const std::string& why);
  void objected(Life controller, const core::Objection& objection);

  const std::shared_ptr<const Policy>& policy() const { return policy_; }
  // Whether jobs of a second partition preempt those of the first: in every fourth world, without a random draw.
  bool has_tiers() const { return options_.seed % 4 == 3; }
  bool has_limits() const { return !options_.fixed_scenario && options_.seed % 4 == 0; }
  // Whether the clocks of controllers may be off by days, in every fifth world.
  bool has_clock_jumps() const { return !options_.fixed_scenario && options_.seed % 5 == 1; }
  ApplyConfig configuration() const;
  Duration tick_interval() const { return 1s; }
  unsigned lost_calls() const { return lost_calls_; }
  bool loses(const Effect& effect);  // a planted bug

 private:
  void start_controller();
  void kill_controller(Life life);
  void found_account();
  void plan_silence();
  void plan_takeover();
  void take_over(Duration stands_still, Duration cut_off);
  void plan_dead_node();
  bool has_jobs_on_nodes() const;
  void plan_restores();
  void restore(const Database::Contents& copy, bool with_mark);
  void plan_faults(Instant end);
  void plan_fault(Instant end);
  void plan_fixed_scenario();
  void heal();
  void look_whether_done();
  std::string unsettled() const;
  void database_stops();
  template <class Event>
  void guarded(Event&& event);

  Options options_;
  Stage stage_;
  std::shared_ptr<const Policy> policy_;
  Observer observer_;
  Database database_;
  Network network_;
  Clients clients_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<Controller>> controllers_;  // newest last
  std::vector<std::unique_ptr<Controller>> graveyard_;    // destroyed once none of them runs
  Random clocks_;  // of its own, so that other worlds draw as before
  unsigned lost_calls_ = 0;
  std::optional<store::HighWaterMark> mark_;  // as MarkKeeper keeps it
  bool accept_rollback_ = false;              // at the next start
  std::optional<std::uint32_t> away_;         // machine that stays away although all else heals
  bool healed_ = false;
  bool done_ = false;
  std::string unsettled_;
};

}  // namespace ares::sim
