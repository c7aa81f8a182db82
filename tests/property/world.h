// A random cluster: the production engine over pretended nodes, lossy sessions and a controller that restarts. Every step is drawn
// from a seed, so that a failure can be run again.
// For tests only; single thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/cluster/lease_monitor.h"
#include "core/engine/engine.h"

namespace ares::property {

// A node daemon reduced to its promises: it starts user code once per attempt and only on Go, keeps results until told to forget,
// freezes what outlives its lease, and loses everything but results when it reboots.
class PretendNode {
 public:
  PretendNode(std::string name, Seconds lease) : name_(std::move(name)), lease_(lease) {}

  struct Held {
    Fence fence;
    AttemptPhase phase = AttemptPhase::accepted;
    ExitStatus exit;
    bool batch = false, leased = false;
  };

  void receive(const ToNodeBody& body, Time now, std::deque<FromNodeBody>& answers);
  FromNodeBody register_message() const;
  FromNodeBody heartbeat(Time now);
  // Something happens by itself: a launch gets ready, a script ends.
  void step(std::mt19937_64& random, std::deque<FromNodeBody>& answers);
  void reboot();

  bool frozen(const Held& held, Time now) const { return held.leased && now > lease_until_; }

  std::uint64_t incarnation = 1;
  std::map<AttemptKey, Held> attempts;
  std::map<AttemptKey, int> starts;  // of user code, for ever
  bool registered = false;

 private:
  AttemptReport report(const AttemptKey& key, const Held& held) const;
  std::vector<AttemptReport> reports() const;

  std::string name_;
  Seconds lease_;
  std::uint64_t sequence_ = 0;
  std::map<std::uint64_t, Time> sent_;
  Time lease_until_{};
};

class World {
 public:
  World(std::uint64_t seed, int nodes);

  void step();
  // No more accidents: everything that can end must end. Returns what did not.
  std::vector<std::string> come_to_rest();

  // Empty while all properties hold; checked by every step.
  const std::vector<std::string>& problems() const { return problems_; }
  const ClusterState& state() const { return engine_->state(); }
  // All that was ever committed, replayed on nothing.
  ClusterState replayed() const;
  const ClusterState& committed() const { return committed_; }
  // Sees every batch as it commits.
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
  void connect(std::size_t node);
  void disconnect(std::size_t node);
  void user_command();
  UpdateJob change_spec(JobSelector jobs);
  void administer();
  ApplyConfig configuration() const;
  void submit(UserId uid, bool again);
  void plan();
  void node_tick();
  void accident(std::size_t node);
  void check_starts();
  void check_owed(const Effects& effects);
  void check();
  JobKey some_job();

  std::mt19937_64 random_;
  std::shared_ptr<const Policy> policy_;
  std::unique_ptr<core::Engine> engine_;
  core::LeaseMonitor monitor_;
  std::uint64_t epoch_ = 0;
  Time now_{std::chrono::hours{480'000}};
  std::vector<PretendNode> nodes_;
  std::vector<Session> sessions_;
  std::map<std::size_t, Time> cut_off_;                // until then
  std::vector<std::shared_ptr<const Event>> journal_;  // committed
  ClusterState committed_;
  core::Ticket ticket_ = 0;
  std::map<core::Ticket, std::size_t> registering_;  // which node waits for this answer
  std::map<core::Ticket, std::string> asked_;        // request ids
  std::map<std::string, JobKey> answered_;           // submissions acknowledged, by request id
  std::vector<std::pair<UserCommand, Time>> submitted_;
  int requests_ = 0;
  bool calm_ = false;
  std::vector<std::string> problems_;
};

}  // namespace ares::property
