// Sessions between the controller and its nodes, which lose and repeat messages.
#include "property/world.h"

namespace ares::property {

void World::disconnect(std::size_t node) {
  sessions_[node] = {};
  nodes_[node].registered = false;
}

void World::connect(std::size_t node) {
  if (sessions_[node].open || (!calm_ && now_ < cut_off_[node])) return;
  sessions_[node].open = true;
  sessions_[node].up.push_back(nodes_[node].register_message());
}

void World::give_out(core::Outgoing out) {
  for (const core::Reply& reply : out.replies) {
    if (const auto node = registering_.find(reply.ticket); node != registering_.end()) {
      if (reply.failed) disconnect(node->second);
      registering_.erase(node);
    }
    if (const auto asked = asked_.find(reply.ticket); asked != asked_.end()) {
      if (!reply.failed && !reply.jobs.empty()) {
        const auto [first, inserted] = answered_.try_emplace(asked->second, reply.jobs.front());
        if (!inserted && !(first->second == reply.jobs.front()))
          problems_.push_back("request " + asked->second + " was answered with two jobs");
      }
      asked_.erase(asked);
    }
  }
  for (Effect& e : out.effects) {
    const Node* to = engine_->state().nodes.find(e.node);
    for (std::size_t node = 0; to && node < sessions_.size(); ++node)
      if (name_of(node) == to->name && sessions_[node].open)
        sessions_[node].down.push_back(std::move(e.body));
  }
}

void World::deliver_up(std::size_t n) {
  Session& session = sessions_[n];
  if (!session.open || session.up.empty()) return;
  NodeCommand command;
  command.message = {"n" + std::to_string(n + 1), nodes_[n].incarnation, session.up.front()};
  command.address = "a";
  if (!chance(calm_ ? 0 : 10)) session.up.pop_front();  // else it arrives twice
  if (const NodeId* known = engine_->state().node_ids.find(name_of(n)))
    monitor_.heard(*known, now_);
  registering_[ticket_ + 1] = n;
  handle({command});
}

void World::deliver_down(std::size_t n) {
  Session& session = sessions_[n];
  if (!session.open || session.down.empty()) return;
  const ToNodeBody body = session.down.front();
  if (!chance(calm_ ? 0 : 10)) session.down.pop_front();
  nodes_[n].receive(body, now_, session.up);
}

void World::node_tick() {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::deque<FromNodeBody> answers;
    nodes_[n].step(random_, answers);
    if (!nodes_[n].registered) continue;  // its progress is reported when it registers
    for (FromNodeBody& a : answers) sessions_[n].up.push_back(std::move(a));
    if (chance(30)) sessions_[n].up.push_back(nodes_[n].heartbeat(now_));
  }
}

}  // namespace ares::property
