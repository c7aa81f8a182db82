// NodeDaemon: one aresd process: the production NodeAgent and Supervisors with virtual disk,
// network and processes. Owned by its Machine; one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "node/agent.h"
#include "node/supervisors.h"
#include "sim/machine.h"

namespace ares::sim {

class NodeDaemon final : public node::Uplink, public node::Users, public node::StepTransport {
 public:
  NodeDaemon(Machine& machine, Life life);
  ~NodeDaemon() override;

  void start();
  Life life() const { return life_; }

  // From the network.
  void connected();
  void disconnected();
  void receive(const ToNode& message);

  // From supervisors.
  void noticed(const AttemptKey& key, Life step, node::StepNotice notice);
  void closed(const AttemptKey& key, Life step);

  // The attempts that its agent knows, for the end of a schedule.
  std::size_t attempts() const { return agent_->attempts().size(); }
  std::vector<AttemptReport> reports() const { return agent_->attempts(); }

  void send(FromNode message) override;
  Result<node::UserIdentity> find(UserId uid, GroupId gid) override;
  Status spawn(const AttemptKey& key) override;
  void connect(const AttemptKey& key) override;
  void send(const AttemptKey& key, const node::StepCommand& command) override;
  void drop(const AttemptKey& key) override;
  void sweep(const AttemptKey& key) override;

 private:
  void settle();
  void boundary() { disk_client_.boundary(); }

  Machine& machine_;
  Stage& stage_;
  Life life_;
  DiskClient disk_client_;
  VirtualSpool spool_;
  std::unique_ptr<node::NodeAgent> agent_;
  std::unique_ptr<node::Supervisors> supervisors_;
  std::unique_ptr<node::Executor> mutated_;  // a planted bug in between
  std::map<AttemptKey, Life> channels_;
  Instant channel_tail_{};  // messages over a socket arrive in order
  std::optional<BootTime> armed_;
};

}  // namespace ares::sim
