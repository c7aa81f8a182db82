// Controller: one aresctld process: the production engine, lease monitor, committer and planner,
// connected like in the daemon but on one thread and with virtual I/O. Owned by the World.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/slewed_clock.h"
#include "core/cluster/lease_monitor.h"
#include "core/cluster/roll_call.h"
#include "core/engine/engine.h"
#include "core/sched/pass/plan.h"
#include "model/policy/policy.h"
#include "sim/clock.h"
#include "sim/database.h"
#include "sim/network.h"
#include "store/journal/committer.h"

namespace ares::sim {

class World;

class Controller {
 public:
  Controller(Stage& stage, World& world, Life life, Clock clock);
  ~Controller();

  void start();
  bool active() const { return engine_.has_value(); }
  Life life() const { return life_; }
  Clock& clock() { return clock_; }

  void received(const std::shared_ptr<Session>& session, FromNode message);
  void detached(const std::shared_ptr<Session>& session);
  void request(UserCommand command, std::uint64_t operation);

 private:
  struct PostedCommand {
    Command command;
    std::optional<std::uint64_t> operation;  // a client waits
    std::shared_ptr<Session> registering;    // a node's session waits
    bool plan = false;                       // the scheduler waits
  };
  struct Waiting {
    PostedCommand posted;
    Lsn relies_on;
  };
  struct Peer {
    std::shared_ptr<Session> session;
    Time last_message_at{};
  };

  void open();
  void post(PostedCommand posted);
  void drain_inbox();
  void advance();
  void defer(core::Outgoing outgoing);
  void commit();
  void committed(Epoch epoch);
  void release(core::Outgoing outgoing);
  void answer(const Waiting& waiting, const core::Reply& reply);
  void registered(const std::shared_ptr<Session>& session, const core::Reply& reply);
  void deliver(Effect effect);
  void publish(std::shared_ptr<const ClusterState> snapshot);
  void plan();
  void tick();
  void handle(const Command& command, core::Ticket ticket);
  bool must_wait(const PostedCommand& posted) const;
  void continue_notifications();
  Time now();
  void boundary() { stage_.boundaries.at(Actor::controller, life_, Boundaries::kNoMachine); }

  Stage& stage_;
  World& world_;
  Life life_;
  Clock clock_;
  DatabaseLink journal_;
  std::optional<store::Committer> committer_;
  std::optional<core::Engine> engine_;
  std::optional<SlewedClock> slewed_;
  core::LeaseMonitor leases_;
  core::RollCall roll_call_;
  bool objected_ = false;
  std::string holder_;
  std::deque<PostedCommand> inbox_;
  bool drain_scheduled_ = false;
  std::map<core::Ticket, Waiting> waiting_;
  core::Ticket next_ticket_ = 1;

  bool in_flight_ = false;
  std::optional<ClusterState> after_;          // of the batch in flight
  std::optional<core::Outgoing> deferred_;     // released after the check in flight
  std::optional<Instant> epoch_confirmed_at_;  // the epoch was held at this time
  Instant handed_over_at_{};                   // when the commit or check in flight began
  Epoch journal_epoch_;

  std::shared_ptr<const ClusterState> view_;
  Lsn planned_;
  core::Planner planner_;
  bool planning_ = false;
  std::optional<Time> wake_;
  std::map<std::string, Peer> peers_;
};

}  // namespace ares::sim
