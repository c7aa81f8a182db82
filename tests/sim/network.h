// Network: sessions between node daemons and controllers: messages of one session arrive in order
// or not at all, late, and sometimes again after the end of the session. Owned by the World; one
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "model/engine/node_message.h"
#include "sim/stage.h"

namespace ares::sim {

class Controller;
class World;

struct Session {
  std::uint64_t id = 0;
  std::uint32_t machine = 0;
  Life node;  // the aresd process
  Life controller;
  bool node_open = true;
  bool controller_open = true;
  std::deque<FromNode> up;
  std::deque<ToNode> down;
  Instant up_tail{}, down_tail{};
};

class Network {
 public:
  Network(Stage& stage, World& world) : stage_(stage), world_(world) {}
  void add_machine() { links_.emplace_back(); }

  // No messages pass between the machine and any controller until it is healed.
  void cut(std::uint32_t machine, bool cut);
  bool is_cut(std::uint32_t machine) const { return links_[machine].cut; }
  // Messages are delayed until then, in one direction or both.
  void stall(std::uint32_t machine, bool up, bool down, Instant until);
  void break_session(std::uint32_t machine);
  void set_duplicates(unsigned per_mille) { duplicates_ = per_mille; }

  void dial(std::uint32_t machine);  // called by aresd: connected() follows eventually
  void from_node(std::uint32_t machine, FromNode message);
  void to_node(const std::shared_ptr<Session>& session, ToNode message);
  void close_by_controller(const std::shared_ptr<Session>& session);
  void node_died(std::uint32_t machine);
  void controller_died(Life controller);

 private:
  struct Link {
    bool cut = false;
    Instant up_until{}, down_until{};
    std::shared_ptr<Session> session;  // of the current daemon of the node
  };
  using SessionPtr = std::shared_ptr<Session>;

  void deliver_up(const SessionPtr& session);
  void deliver_down(const SessionPtr& session);
  void node_notices_end(const SessionPtr& session, Duration delay);
  void controller_notices_end(const SessionPtr& session, Duration delay);
  void watch(const SessionPtr& session);
  Duration latency();

  Stage& stage_;
  World& world_;
  std::vector<Link> links_;
  std::vector<SessionPtr> sessions_;
  unsigned duplicates_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace ares::sim
