// Observer: sees all events of a simulation and checks its invariants. Throws Violation. Owned by
// the World; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "model/engine/command.h"
#include "model/engine/effect.h"
#include "sim/database.h"
#include "sim/stage.h"

namespace ares::sim {

class Observer {
 public:
  Observer(Stage& stage, const Policy& policy) : stage_(stage), policy_(policy) {}
  void watch(Database& database) { database_ = &database; }

  // --- user code ---
  // Whether the attempt has released its CPUs: it is suspended, or was when its end began.
  bool has_released_cpus(const AttemptKey& key) const;
  void user_started(const AttemptKey& key, std::uint32_t machine, std::uint32_t cpus_in_use,
                    std::uint32_t cpus);
  void user_ended(const AttemptKey& key, std::uint32_t machine, ExitStatus exit);  // not killed
  void user_killed(const AttemptKey& key, std::uint32_t machine);
  void user_frozen(const AttemptKey& key, std::uint32_t machine);
  void user_thawed(const AttemptKey& key, std::uint32_t machine);

  void power_lost(std::uint32_t machine);

  // --- messages ---
  void node_said(std::uint32_t machine, const FromNode& message);
  void node_told(std::uint32_t machine, const ToNode& message);
  // Called when a controller releases it.
  void effect_leaves(const Effect& effect);
  void reply_leaves(const RequestKey& key, Lsn relies_on, const core::Reply& reply);

  // --- the controller's state ---
  void journaled(const Event& event, const ClusterState& after) const;
  void state_changed(const ClusterState& state);
  void batch_committed(const ClusterState& after);
  // Each effect that was sent must also follow from the state alone.
  void regenerates(const Effect& effect, const ClusterState& state);

  // --- clients ---
  void acknowledged(JobKey key);

  // A controller found by its check that another one has taken over.
  void stopped_by_check() { ++stopped_by_check_; }
  std::uint64_t controllers_stopped_by_check() const { return stopped_by_check_; }

  void database_dies() { ++database_deaths_; }
  std::uint32_t take_database_deaths() { return std::exchange(database_deaths_, 0); }

  // Acknowledged jobs that are not terminal yet, as text; empty if all are.
  std::string unfinished() const;
  std::size_t acknowledged_jobs() const { return acknowledged_.size(); }
  std::uint64_t user_starts() const { return starts_.size(); }
  std::uint64_t freezes() const { return freezes_; }
  void check_accounting() const;
  // With a half-life of 0, that is without decay.
  void check_usage() const;

  std::string describe(const Event& event) const;

 private:
  struct Live {
    bool frozen = false;
  };
  using Place = std::pair<AttemptKey, std::uint32_t>;
  // The running jobs of an account are within its limits.
  void check_limits(const ClusterState& state) const;
  void said(std::uint32_t machine, const AttemptReport& report);
  void listed(std::uint32_t machine, const std::vector<AttemptReport>& reports);
  void check_alone(const AttemptKey& key, const char* what) const;

  Stage& stage_;
  const Policy& policy_;
  Database* database_ = nullptr;
  std::map<AttemptKey, std::uint32_t> starts_;
  std::map<JobKey, AttemptNo> newest_;  // attempt that has started user code
  std::map<Place, Live> live_;
  std::map<AttemptKey, ExitStatus> ends_;
  std::map<Place, AttemptReport> announced_;  // done, and not yet forgotten
  std::set<Place> forgotten_;
  std::set<Place> ready_, started_on_;  // since the machine was last switched on
  std::set<JobKey> acknowledged_;
  std::uint32_t database_deaths_ = 0;
  std::uint64_t freezes_ = 0;
  std::uint64_t stopped_by_check_ = 0;
};

std::string text_of(const AttemptKey& key);
std::string text_of(const ToNodeBody& body);
std::string text_of(const FromNodeBody& body);
// The first records in which two states differ.
std::string difference(const ClusterState& a, const ClusterState& b);

}  // namespace ares::sim
