// NodeHost: the event loop and only thread of all nodes of this aresd, and of the exec plugin that runs their attempts.
// Messages from the link's threads arrive through a queue. Owned by main(), which runs run(); the other functions state
// which threads may call them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "aresd/hosted_node.h"
#include "base/mutex.h"
#include "os/fd.h"

namespace ares::aresd {

class NodeHost final : private exec::NodeEvents {
 public:
  struct Connected {};
  struct Disconnected {};
  struct Health {
    std::string unhealthy;  // NodeAgent::set_health()
  };
  struct GpusLookedAt {
    node::GpuLook look;  // NodeAgent::gpus_looked_at()
  };
  // Whether the controller stores what attempts print.
  struct OutputTaken {
    bool taken;
  };
  struct OutputStored {
    std::string node;
    node::OutputStored stored;
  };
  using Input = std::variant<Connected, Disconnected, ToNode, Health, GpusLookedAt, OutputTaken,
                             OutputStored>;

  // Opens the plugin; its table outlives the host. `options`: `key value` lines. `stop_fd`: readable when the process is to end, so
  // that a plugin that waits in its open() gives up.
  static Result<std::unique_ptr<NodeHost>> make(const ares_exec_plugin& plugin,
                                                const std::string& options, int stop_fd = -1);
  ~NodeHost() override;

  exec::OpenPlugin& plugin() { return *plugin_; }

  // Before run(). `name` is the node's.
  void add(const std::string& name, std::unique_ptr<HostedNode> node);

  // Makes the host's part of a node that the plugin has found. Called on the host's thread.
  using MakeNode = std::function<Result<std::unique_ptr<HostedNode>>(const exec::FoundNode&)>;
  void on_found(MakeNode make) { make_ = std::move(make); }

  void put(Input input);  // any thread, does not block
  void stop();            // any thread or signal handler: run() returns; jobs keep running

  // The error is that of a plugin that cannot go on.
  Status run();

  // Called on the host's thread when the controller refuses a node, once for each new reason.
  void on_refused(std::function<void(const std::string& node, const std::string& why)> callback) {
    on_refused_ = std::move(callback);
  }

  // Called on the host's thread with what an attempt of a node has printed. Before run().
  using OnOutput = std::function<void(const std::string& node, std::uint64_t incarnation,
                                      const node::OutputPart& part)>;
  void on_output(OnOutput callback) { on_output_ = std::move(callback); }

 private:
  struct Slot {
    std::string name;
    std::unique_ptr<HostedNode> node;  // null: the slot is free
    std::optional<BootTime> scheduled{};
    std::string refused{};
    std::string identity{};  // of a node that the plugin has found
    bool removed = false;  // the plugin finds it no longer; it stays until its attempts have ended
  };
  struct Removed {
    std::string name, why;
  };

  explicit NodeHost(int stop_fd) : stop_fd_(stop_fd) {}
  void node_changed(const exec::FoundNode& node) override { found_.emplace_back(node); }
  void node_removed(const std::string& name, const std::string& why) override {
    found_.emplace_back(Removed{name, why});
  }
  void say(const std::string& text) override;
  void failed(const std::string& why) override;
  int stop_fd() const override { return stop_fd_; }
  void apply_found();
  void apply(const exec::FoundNode& found);
  void apply(const Removed& removed);
  void remove(std::size_t index);
  void remove_if_empty(std::size_t index);
  void dispatch_plugin();
  void drain_inputs();
  void handle(std::size_t index, const Input& input);
  void update_schedule(std::size_t index);  // after each event of the node
  void dispatch_due();
  void set_timer();

  // Told by the plugin, not applied yet, and slots whose nodes its events concern. They outlive it.
  std::vector<std::variant<exec::FoundNode, Removed>> found_;
  std::vector<std::size_t> touched_;
  int stop_fd_;
  Status failure_{};                          // of the plugin
  std::unique_ptr<exec::OpenPlugin> plugin_;  // outlives the slots
  MakeNode make_;
  bool connected_ = false;

  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;  // slots
  std::unordered_map<std::string, std::size_t> by_name_;
  std::set<std::pair<BootTime, std::size_t>> due_;
  os::Fd poll_, wakeup_, timer_;
  std::function<void(const std::string&, const std::string&)> on_refused_;
  OnOutput on_output_ = [](const std::string&, std::uint64_t, const node::OutputPart&) {};

  Mutex mutex_;
  std::vector<Input> inputs_ ARES_GUARDED_BY(mutex_);
  std::atomic<bool> stop_ = false;
};

}  // namespace ares::aresd
