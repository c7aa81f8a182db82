#include "store/journal/node_events.h"

#include <cstddef>
#include <set>
#include <utility>
#include <variant>

namespace ares::store {
namespace {

std::string attempt_text(const AttemptKey& key) {
  const std::string task =
      key.job.task.is_none() ? std::string{} : "_" + std::to_string(key.job.task.value);
  return std::to_string(key.job.job.value()) + task + "." + std::to_string(key.attempt.value());
}

std::string_view word_of(AdminState admin) {
  switch (admin) {
    case AdminState::up: return "RESUME";
    case AdminState::drain: return "DRAIN";
    case AdminState::down: return "DOWN";
    case AdminState::fail: return "FAIL";
  }
  return "UNKNOWN";
}

class Collector {
 public:
  explicit Collector(const ClusterState& after) : after_(after) {}

  void at(Time time) { at_ = time; }
  std::vector<NodeEvent> take() { return std::move(out_); }

  // Every other event is not about a node as such.
  template <class Other>
  void operator()(const Other&) {
    of_command_.clear();
  }

  // It follows the events of a user's command, of which these do not say who the user is.
  void operator()(const Audited& e) {
    for (const std::size_t at : of_command_) out_[at].by = e.entry.uid;
    of_command_.clear();
  }

  void operator()(const NodeGuardSet& e) {
    if (e.guard.on_trial)
      tried_.insert(e.id);
    else
      tried_.erase(e.id);
  }
  void operator()(const NodeAdminSet& e) {
    const bool tried = e.admin == AdminState::up && !e.by && tried_.contains(e.id);
    add(e.id, word_of(e.admin), e.by, tried ? "is tried again with one job" : e.reason);
  }
  void operator()(const NodeRegistered& e) {
    add(e.id, "REGISTERED", {},
        "incarnation " + std::to_string(e.incarnation) + ", aresd " + e.version + " at " +
            e.address);
  }
  void operator()(const NodeLost& e) {
    add(e.id, "LOST", {}, e.machine_gone ? "its machine is gone" : "does not answer");
  }
  void operator()(const LaunchFailed& e) {
    if (e.node_fault)
      add(e.node, "LAUNCH_FAILED", {}, "attempt " + attempt_text(e.attempt) + ": " + e.cause);
  }
  void operator()(const NodeRebootSet& e) {
    if (!e.reboot)
      add_of_command(e.id, "REBOOT_OVER");
    else if (e.reboot->issued_at)
      add(e.id, "REBOOT_ISSUED", {}, e.reboot->reason);
    else
      add(e.id, "REBOOT_REQUESTED", e.reboot->by, e.reboot->reason);
  }
  void operator()(const NodeJoined& e) {
    std::string in;
    for (const std::string& partition : e.partitions) in += (in.empty() ? "" : ",") + partition;
    add(e.id, "JOINED", {}, "partitions " + in);
  }
  void operator()(const NodeLeft& e) { add_of_command(e.id, "LEFT"); }
  void operator()(const ReservationSet& e) {
    of_command_.clear();
    for (const NodeReplacement& one : e.replaced) {
      const std::string in = "in reservation " + e.reservation.name + " ";
      add(one.gone, "REPLACED", {}, in + "by " + name_of(one.substitute));
      add(one.substitute, "SUBSTITUTED", {}, in + "for " + name_of(one.gone));
    }
  }

 private:
  void add(NodeId id, std::string_view what, std::optional<UserId> by, std::string detail) {
    const Node* node = after_.nodes.find(id);
    out_.push_back({at_, id, node ? node->name : "", what, by, std::move(detail)});
  }

  std::string name_of(NodeId id) const {
    const Node* node = after_.nodes.find(id);
    return node ? node->name : std::string{};
  }

  void add_of_command(NodeId id, std::string_view what) {
    of_command_.push_back(out_.size());
    add(id, what, {}, "");
  }

  const ClusterState& after_;
  Time at_{};
  std::vector<std::size_t> of_command_;
  std::set<NodeId> tried_;
  std::vector<NodeEvent> out_;
};

}  // namespace

std::vector<NodeEvent> node_events_of(const std::vector<std::shared_ptr<const Event>>& events,
                                      const ClusterState& after) {
  Collector collector(after);
  for (const auto& event : events) {
    collector.at(event->at);
    std::visit(collector, event->body);
  }
  return collector.take();
}

}  // namespace ares::store
