// A random cluster: the production engine with simulated nodes, lossy sessions and a controller that
// restarts. Every step is drawn from a seed, so that a failure can be reproduced. Its parts: world.cc
// controller, time and scheduler; world_users.cc requests; world_network.cc sessions of nodes;
// world_invariants.cc invariants; world_rest.cc the final phase. For tests only; single thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/accounts/account_directory.h"
#include "core/cluster/lease_monitor.h"
#include "core/engine/engine.h"
#include "core/job/transitions.h"
#include "property/simulated_node.h"

namespace ares::property {

class World {
 public:
  // `node_life`: launches that fail set nodes aside, operators reboot nodes, one node more joins and
  // is removed, and failed jobs return first and have spare nodes.
  World(std::uint64_t seed, int nodes, bool limited = false, bool node_life = false);

  void step();
  // No more faults: everything that can end must end. Returns what did not.
  std::vector<std::string> come_to_rest();

  // Empty while all properties hold; checked after every step.
  const std::vector<std::string>& problems() const { return problems_; }
  const ClusterState& state() const { return engine_->state(); }
  // The replay of all committed events, from an empty state.
  ClusterState replayed() const;
  const ClusterState& committed() const { return committed_; }
  // Called with every batch when it commits.
  std::function<void(const core::EngineBatch&)> on_batch;
  // How often each alternative of EventBody was committed.
  std::map<std::size_t, int> events_by_kind() const;

 private:
  struct Session {
    std::deque<FromNodeBody> up;
    std::deque<ToNodeBody> down;
    bool open = false;
  };

  int draw(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }
  bool chance(int percent) { return draw(100) < percent; }
  void handle(Command command);
  void commit();
  void give_out(core::Outgoing out);
  void restart_controller();
  void deliver_up(std::size_t node);
  void deliver_down(std::size_t node);
  std::string name_of(std::size_t node) const { return "n" + std::to_string(node + 1); }
  void care_for_nodes();
  void connect(std::size_t node);
  void disconnect(std::size_t node);
  void user_command();
  UpdateJob change_spec(JobSelector jobs);
  UserBody reserve();
  void administer();
  UserBody keep_accounts();
  JobSelector some_suspended(JobSelector otherwise);
  ApplyConfig configuration() const;
  void submit(UserId uid, bool again);
  void plan();
  void evict_some(PlanGroup& group);
  void node_tick();
  void accident(std::size_t node);
  void check_starts();
  void release_everything();
  std::vector<std::string> unfinished() const;
  void check_resent(const Effects& effects);
  void check_replay(const core::EngineBatch& batch);
  void check_transition(const core::JobEventRef& about, std::optional<JobState> from,
                        const Job* after);
  void check();
  JobKey some_job();
  DependencyKind any_kind();

  std::mt19937_64 random_;
  std::shared_ptr<const Policy> policy_;
  int configured_;  // nodes of the configuration
  bool node_life_;
  PreemptMode preempt_mode_;  // of the partition that most jobs are in
  core::Bounds bounds_;       // so low that notifications take many batches
  std::unique_ptr<core::Engine> engine_;
  core::LeaseMonitor monitor_;
  std::uint64_t epoch_ = 0;
  Time now_{std::chrono::hours{480'000}};
  std::vector<SimulatedNode> nodes_;
  std::vector<Session> sessions_;
  std::map<std::size_t, Time> cut_off_;                // until this time
  std::vector<std::shared_ptr<const Event>> journal_;  // committed
  ClusterState committed_;
  core::Ticket ticket_ = 0;
  std::map<core::Ticket, std::size_t> registering_;  // node that waits for this reply
  std::map<core::Ticket, std::string> asked_;        // request ids
  std::map<std::string, JobKey> answered_;           // acknowledged submissions, by request id
  std::vector<std::pair<UserCommand, Time>> submitted_;
  int requests_ = 0;
  bool calm_ = false;
  std::vector<std::string> problems_;
};

}  // namespace ares::property
