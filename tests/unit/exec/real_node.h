// RealNode: a node agent with a spool on disk and the baremetal plugin with real processes; the
// test acts as the controller. Owned by one test; one thread.
#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "exec/adapter/open_plugin.h"
#include "exec/baremetal/baremetal.h"
#include "exec/baremetal/file_spool.h"
#include "node/agent.h"
#include "os/clock.h"
#include "os/task_tree.h"
#include "os/users.h"

namespace ares::exec {

inline node::Moment real_now() {
  return {os::wall_now(), os::boot_now()};
}

// A directory that every user may enter; it is removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    ::chmod(path_.c_str(), 0777);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string file_text(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of plugins that find no nodes.
class NoNodes final : public NodeEvents {
  void node_changed(const FoundNode&) override {}
  void node_removed(const std::string&, const std::string&) override {}
};

class RealNode final : private node::Uplink, private node::Users {
 public:
  explicit RealNode(const std::string& spool_path) : spool_path_(spool_path) { start(); }

  ~RealNode() override {
    if (!agent_) return;
    std::vector<AttemptKey> left;
    for (const AttemptReport& r : agent_->attempts()) {
      if (node::has_ended(r.phase)) continue;
      left.push_back(r.attempt);
      tell(Kill{r.attempt, r.fence, true});
    }
    for (const AttemptKey& key : left) until([&] { return node::has_ended(report(key).phase); });
  }

  // Like a start of aresd; supervisors of the spool are found again.
  void start() {
    spool_ = std::move(*FileSpool::open(spool_path_));
    node::AgentSetup setup;
    setup.name = "n1";
    setup.boot_id = *os::boot_id();
    setup.fresh_uuid = *os::fresh_uuid();
    setup.inventory = inventory;
    setup.max_processes_per_cpu = max_processes_per_cpu;
    setup.gpu_devices = gpu_devices;
    node::Uplink& uplink = *this;
    node::Users& users = *this;
    agent_ = std::make_unique<node::NodeAgent>(setup, *spool_, users, uplink);
    plugin_ = std::move(*OpenPlugin::open(*baremetal_plugin(), "stepd " + stepd + "\n", none_));
    executor_ = std::move(*plugin_->add_node({"n1", spool_path_, setup.boot_id}, *spool_, *agent_));
    if (Status recovered = agent_->recover(*executor_, real_now()); !recovered) std::abort();
    connect();
  }
  // Like SIGKILL of aresd: its memory is gone, the processes that it started are not.
  void stop() {
    agent_.reset();
    executor_.reset();
    plugin_.reset();
    spool_.reset();
  }
  void restart() {
    stop();
    start();
  }
  void connect() {
    agent_->connected(real_now());
    tell(Welcome{agent_->incarnation(), lease, Seconds(10)});
    acknowledge();
  }
  void acknowledge() { tell(HeartbeatAck{heartbeat_}); }

  void tell(ToNodeBody body) { agent_->receive({"n1", Epoch(1), std::move(body)}, real_now()); }

  // Runs the node until the condition holds; false if it does not within the time.
  bool until(const std::function<bool()>& condition, Seconds patience = Seconds(20)) {
    const BootTime deadline = os::boot_now() + patience;
    while (!condition()) {
      if (os::boot_now() >= deadline) return false;
      pollfd readable{plugin_->event_fd(), POLLIN, 0};
      ::poll(&readable, 1, 5);
      plugin_->dispatch(real_now());
      agent_->tick(real_now());
    }
    return true;
  }
  AttemptReport report(const AttemptKey& key) const {
    for (const AttemptReport& r : agent_->attempts())
      if (r.attempt == key) return r;
    return {};
  }
  bool until_phase(const AttemptKey& key, AttemptPhase phase, Seconds patience = Seconds(20)) {
    return until([&] { return knows(key) && report(key).phase == phase; }, patience);
  }
  bool knows(const AttemptKey& key) const {
    for (const AttemptReport& r : agent_->attempts())
      if (r.attempt == key) return true;
    return false;
  }

  // Sends Prepare and Go, and waits for the end.
  AttemptReport run(const Prepare& prepare, Seconds patience = Seconds(20)) {
    const AttemptKey& key = prepare.launch.attempt;
    tell(prepare);
    if (!until_phase(key, AttemptPhase::ready)) return report(key);
    tell(Go{key, prepare.launch.fence});
    until([&] { return node::has_ended(report(key).phase); }, patience);
    return report(key);
  }

  // The started record of the supervisor; empty if there is none.
  node::StartedRecord started(const AttemptKey& key) const {
    Result<std::string> text = spool_->open(key)->read(node::Record::started);
    return text ? *node::decode_started(*text) : node::StartedRecord{};
  }
  std::int64_t supervisor_pid(const AttemptKey& key) const { return started(key).pid; }
  std::uint64_t incarnation() const { return agent_->incarnation(); }
  FileSpool& spool() { return *spool_; }
  std::vector<LaunchRefused> refusals;
  Seconds lease{300};  // for the next connect()
  // For the next start().
  Inventory inventory;
  std::uint64_t max_processes_per_cpu = 0;
  std::map<GpuIndex, std::vector<std::string>> gpu_devices;
  std::string stepd = ARES_BIN_DIR "/aresstepd";

 private:
  void send(FromNode message) override {
    if (const auto* heartbeat = std::get_if<Heartbeat>(&message.body))
      heartbeat_ = heartbeat->sequence;
    if (const auto* refusal = std::get_if<LaunchRefused>(&message.body))
      refusals.push_back(*refusal);
  }
  Result<node::UserIdentity> find(UserId uid, GroupId gid) override {
    Result<os::User> user = os::find_user(uid);
    if (!user) return fail(user.error());
    return node::UserIdentity{user->name, gid, *os::groups_of(*user, gid), user->home, user->shell};
  }

  std::string spool_path_;
  std::uint64_t heartbeat_ = 0;
  std::unique_ptr<FileSpool> spool_;
  std::unique_ptr<node::NodeAgent> agent_;
  NoNodes none_;
  std::unique_ptr<OpenPlugin> plugin_;
  std::unique_ptr<node::Executor> executor_;
};

// A job of the calling user with this script and `out` in `work_dir` as its output file.
inline Prepare make_prepare(const RealNode& node, std::uint64_t job, const std::string& script,
                            const std::string& work_dir) {
  auto spec = std::make_shared<JobSpec>();
  spec->name = "test";
  spec->uid = UserId(::geteuid());
  spec->gid = GroupId(::getegid());
  spec->user = "me";
  spec->submit_dir = spec->work_dir = work_dir;
  spec->std_out = "out";
  Prepare prepare;
  LaunchSpec& launch = prepare.launch;
  launch.attempt = {{JobId(job), TaskIndex{}}, AttemptNo(1)};
  launch.fence = Fence(job * 10);
  launch.own_id = JobId(job);
  launch.spec = spec;
  launch.cluster_name = "test";
  launch.node_name = "n1";
  launch.layout = std::make_shared<const NodeLayout>(
      std::vector<std::string>{"n1"}, std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{1});
  launch.share.cpus = 1;
  launch.share.tasks = 1;
  launch.share.incarnation = node.incarnation();
  launch.partition = "main";
  launch.kill_wait = Seconds(1);
  prepare.script = std::make_shared<std::string>("#!/bin/sh\n" + script);
  prepare.environment = std::make_shared<std::string>();
  return prepare;
}

// Changes the specification of a launch before it is sent.
inline JobSpec& edit(Prepare& prepare) {
  auto copy = std::make_shared<JobSpec>(*prepare.launch.spec);
  prepare.launch.spec = copy;
  return *copy;
}

}  // namespace ares::exec
