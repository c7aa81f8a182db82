// NodeHost: the event loop and only thread of all nodes of this aresd. Messages from the link's threads arrive
// through a queue. Owned by main(), which runs run(); the other functions state which threads may call them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "aresd/hosted_node.h"
#include "os/fd.h"

namespace ares::aresd {

class NodeHost {
 public:
  struct Connected {};
  struct Disconnected {};
  struct Health {
    std::string unhealthy;  // NodeAgent::set_health()
  };
  struct GpusLookedAt {
    node::GpuLook look;  // NodeAgent::gpus_looked_at()
  };
  using Input = std::variant<Connected, Disconnected, ToNode, Health, GpusLookedAt>;

  static Result<std::unique_ptr<NodeHost>> make();

  // Before run(). `name` is the node's.
  void add(const std::string& name, std::unique_ptr<HostedNode> node);

  void put(Input input);  // any thread, does not block
  void stop();            // any thread or signal handler: run() returns; jobs keep running

  void run();

  // Called on the host's thread when the controller refuses a node, once for each new reason.
  void on_refused(std::function<void(const std::string& node, const std::string& why)> callback) {
    on_refused_ = std::move(callback);
  }

 private:
  struct Slot {
    std::string name;
    std::unique_ptr<HostedNode> node;
    std::optional<BootTime> scheduled;
    std::string refused;
  };

  NodeHost() = default;
  void drain_inputs();
  void handle(std::size_t index, const Input& input);
  void update_schedule(std::size_t index);  // after each event of the node
  void dispatch_due();
  void set_timer();

  std::vector<Slot> slots_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::set<std::pair<BootTime, std::size_t>> due_;
  os::Fd poll_, wakeup_, timer_;
  std::function<void(const std::string&, const std::string&)> on_refused_;

  std::mutex mutex_;
  std::vector<Input> inputs_;  // guarded by mutex_
  std::atomic<bool> stop_ = false;
};

}  // namespace ares::aresd
