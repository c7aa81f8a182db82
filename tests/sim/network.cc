#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "sim/controller.h"
#include "sim/node_daemon.h"
#include "sim/world.h"

namespace ares::sim {

Duration Network::latency() {
  return stage_.random.percent(2) ? stage_.random.between(Duration(3ms), Duration(400ms))
                                  : stage_.random.between(Duration(100us), Duration(2ms));
}

void Network::cut(std::uint32_t machine, bool cut) {
  Link& link = links_[machine];
  if (link.cut == cut) return;
  stage_.note(cut ? "cut" : "heal", machine, 0, [&] { return world_.machine(machine).name(); });
  link.cut = cut;
  if (cut && link.session) watch(link.session);
}

void Network::stall(std::uint32_t machine, bool up, bool down, Instant until) {
  stage_.note("stall", machine, (up ? 1 : 0) + (down ? 2 : 0), [&] {
    return world_.machine(machine).name() + (up ? " up" : "") + (down ? " down" : "");
  });
  if (up) links_[machine].up_until = until;
  if (down) links_[machine].down_until = until;
}

// Each side detects separately that no messages pass.
void Network::watch(const SessionPtr& session) {
  const auto look = [this, session] { return links_[session->machine].cut; };
  stage_.timeline.after(stage_.random.between(Duration(2s), Duration(20s)), Timeline::world(),
                        [this, session, look] {
                          if (look()) node_notices_end(session, Duration(0));
                        });
  stage_.timeline.after(stage_.random.between(Duration(2s), Duration(20s)), Timeline::world(),
                        [this, session, look] {
                          if (look()) controller_notices_end(session, Duration(0));
                        });
}

void Network::break_session(std::uint32_t machine) {
  const SessionPtr session = links_[machine].session;
  if (!session) return;
  stage_.note("session breaks", machine, 0, [&] { return world_.machine(machine).name(); });
  node_notices_end(session, stage_.random.between(Duration(0), Duration(2s)));
  controller_notices_end(session, stage_.random.between(Duration(0), Duration(2s)));
}

void Network::dial(std::uint32_t machine) {
  NodeDaemon* daemon = world_.machine(machine).aresd();
  const bool first = stage_.random.percent(50);
  const Duration delay = first ? stage_.random.between(Duration(1ms), Duration(50ms))
                               : stage_.random.between(Duration(100ms), Duration(2s));
  stage_.timeline.after(delay, daemon->life(), [this, machine, daemon] {
    Link& link = links_[machine];
    if (link.session && link.session->node_open) return;
    Controller* controller = world_.found_by_nodes();
    if (link.cut || !controller || stage_.now() < std::max(link.up_until, link.down_until))
      return dial(machine);
    auto session = std::make_shared<Session>();
    session->id = next_id_++;
    session->machine = machine;
    session->node = daemon->life();
    session->controller = controller->life();
    link.session = session;
    sessions_.push_back(session);
    stage_.note("session", machine, session->id, [&] { return world_.machine(machine).name(); });
    daemon->connected();
  });
}

void Network::from_node(std::uint32_t machine, FromNode message) {
  const SessionPtr session = links_[machine].session;
  if (!session || !session->node_open) return;
  if (stage_.random.per_mille(duplicates_)) {
    // The message is delivered again much later.
    stage_.timeline.after(stage_.random.between(Duration(10ms), Duration(40s)), Timeline::world(),
                          [this, session, message] {
                            if (Controller* c = world_.controller_of(session->controller))
                              c->received(session, message);
                          });
  }
  session->up.push_back(std::move(message));
  session->up_tail =
      std::max({session->up_tail, stage_.now() + latency(), links_[machine].up_until});
  stage_.timeline.at(session->up_tail, Timeline::world(), [this, session] { deliver_up(session); });
}

void Network::deliver_up(const SessionPtr& session) {
  const Link& link = links_[session->machine];
  if (session->up.empty()) return;
  if (link.cut || stage_.now() < link.up_until) {
    if (!session->node_open) return session->up.clear();
    stage_.timeline.after(stage_.random.between(Duration(50ms), Duration(500ms)), Timeline::world(),
                          [this, session] { deliver_up(session); });
    return;
  }
  FromNode message = std::move(session->up.front());
  session->up.pop_front();
  Controller* controller = world_.controller_of(session->controller);
  if (!session->controller_open || !controller)
    return node_notices_end(session, latency());  // the other end answers with a reset
  controller->received(session, std::move(message));
}

void Network::to_node(const SessionPtr& session, ToNode message) {
  if (!session->controller_open) return;
  if (stage_.random.per_mille(duplicates_) && !std::holds_alternative<Refused>(message.body)) {
    stage_.timeline.after(stage_.random.between(Duration(10ms), Duration(60s)), Timeline::world(),
                          [this, machine = session->machine, message] {
                            NodeDaemon* daemon = world_.machine(machine).aresd();
                            if (!daemon || links_[machine].cut) return;
                            world_.observer().node_told(machine, message);
                            daemon->receive(message);
                          });
  }
  session->down.push_back(std::move(message));
  session->down_tail =
      std::max({session->down_tail, stage_.now() + latency(), links_[session->machine].down_until});
  stage_.timeline.at(session->down_tail, Timeline::world(),
                     [this, session] { deliver_down(session); });
}

void Network::deliver_down(const SessionPtr& session) {
  const Link& link = links_[session->machine];
  if (session->down.empty()) return;
  if (!session->node_open) {
    session->down.clear();
    if (!link.cut) controller_notices_end(session, latency());
    return;
  }
  if (link.cut || stage_.now() < link.down_until) {
    stage_.timeline.after(stage_.random.between(Duration(50ms), Duration(500ms)), Timeline::world(),
                          [this, session] { deliver_down(session); });
    return;
  }
  ToNode message = std::move(session->down.front());
  session->down.pop_front();
  NodeDaemon* daemon = world_.machine(session->machine).aresd();
  if (!daemon || daemon->life() != session->node) return;
  world_.observer().node_told(session->machine, message);
  daemon->receive(message);
}

void Network::node_notices_end(const SessionPtr& session, Duration delay) {
  stage_.timeline.after(delay, session->node, [this, session] {
    if (!session->node_open) return;
    session->node_open = false;
    world_.machine(session->machine).aresd()->disconnected();
    dial(session->machine);
  });
}

void Network::controller_notices_end(const SessionPtr& session, Duration delay) {
  stage_.timeline.after(delay, session->controller, [this, session] {
    if (!session->controller_open) return;
    session->controller_open = false;
    if (Controller* c = world_.controller_of(session->controller)) c->detached(session);
  });
}

void Network::close_by_controller(const SessionPtr& session) {
  session->controller_open = false;
  node_notices_end(session, latency());
}

void Network::node_died(std::uint32_t machine) {
  Link& link = links_[machine];
  if (!link.session) return;
  link.session->node_open = false;
  controller_notices_end(link.session, stage_.random.between(Duration(1ms), Duration(3s)));
  link.session.reset();
}

void Network::controller_died(Life controller) {
  for (const SessionPtr& session : sessions_) {
    if (session->controller != controller || !session->controller_open) continue;
    session->controller_open = false;
    node_notices_end(session, stage_.random.between(Duration(1ms), Duration(3s)));
  }
  std::erase_if(sessions_, [&](const SessionPtr& s) { return s->controller == controller; });
}

}  // namespace ares::sim
