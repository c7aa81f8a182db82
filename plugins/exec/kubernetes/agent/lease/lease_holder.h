// LeaseHolder: gets and keeps the lease of the agent of a Kubernetes cluster, and lets the client write only while it is held. What it
// does when is decided by AgentLease. Owned by the backend; one thread, that of the client, which outlives it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "exec/kubernetes/agent/lease/agent_identity.h"
#include "exec/kubernetes/agent/lease/agent_lease.h"
#include "exec/kubernetes/agent/lease/lease_object.h"
#include "exec/kubernetes/agent/wait.h"
#include "exec/kubernetes/api/client.h"

namespace ares::kubernetes {

struct LeaseParts {
  LeasePlace place;
  AgentIdentity self;
  std::function<void(const std::string&)> say;  // to the operator
  std::function<BootTime()> now;
  LeaseTimes times{};
};

class LeaseHolder final : public Meanwhile {
 public:
  // From now on the client writes nothing but the lease.
  LeaseHolder(ApiClient& client, LeaseParts parts);
  LeaseHolder(const LeaseHolder&) = delete;
  LeaseHolder& operator=(const LeaseHolder&) = delete;

  bool is_held() const { return lease_.state() == AgentLease::State::held; }
  // What to tell when another agent has it; empty: none has.
  const std::string& failure() const override { return lost_; }

  std::optional<BootTime> next_deadline() const override { return lease_.next_deadline(); }
  // To be called when the deadline has passed, besides ApiClient::dispatch().
  void dispatch() override;

  // Gives the lease up, so that another agent need not wait; at most for some seconds, in which the client works.
  void release();

 private:
  void call(const LeaseCall& call);
  void answered(const ApiResult& result);
  void tell();
  bool was_paused(BootTime now);

  ApiClient& client_;
  LeaseParts parts_;
  AgentLease lease_;
  Time acquired_{};
  std::optional<BootTime> dispatched_{};
  std::string told_;  // the holder that the operator was told of
  std::string problem_;
  std::string lost_;
};

}  // namespace ares::kubernetes
