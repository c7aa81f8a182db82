// PodAttempt: what one attempt on one node needs from the API server, and what is known of it. It decides; the backend makes the calls,
// one at a time. It has no connection and no clock. Owned by the backend; one thread.
//
// User code may run from the moment at which the go is written into the pod, and never before. That it has ended is known only if the
// kubelet has reported the end of the container, or if the node has booted since: a pod that disappears proves nothing, nor does
// a node that is removed. Such an attempt is unknown until the controller says that it does not wait for it. The job is not started
// twice by that: the controller says so only after an operator has declared the node dead, or after dead_node_timeout, when it
// does not requeue the job by itself. No go is given for the fence again, a go is for one boot of the node, and the gate
// starts the script once. If the machine runs on, its kubelet ends the containers of pods that were removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "exec/kubernetes/agent/pods/manifest.h"
#include "exec/kubernetes/agent/pods/pod_object.h"
#include "exec/kubernetes/api/reply.h"
#include "model/engine/node_message.h"
#include "node/moment.h"

namespace ares::kubernetes {

struct CreatePod {};
struct CreateSecret {};
struct BindPod {};
struct WriteGo {};  // the caller adds what it knows: the time, the hosts and the boot of the node
struct Annotate {
  std::vector<std::pair<std::string, std::string>> values;
};
struct DeletePod {
  std::int64_t grace_s;
};
struct RemoveFinalizer {};
using PodAction =
    std::variant<CreatePod, CreateSecret, BindPod, WriteGo, Annotate, DeletePod, RemoveFinalizer>;

// Why no user code has run and none will.
struct NeverRan {
  bool is_nodes_fault = true;  // otherwise the job's, or
  std::string cause;
  bool is_systems_fault = false;  // of another client of Kubernetes, say
};

class PodAttempt {
 public:
  explicit PodAttempt(Launch launch, std::string node_uid);
  // A pod that an earlier agent has bound.
  PodAttempt(const PodObject& pod, node::StepSpec spec);

  const Launch& launch() const { return launch_; }
  const std::string& uid() const { return uid_; }
  // Of the pod as last seen; empty: it was not.
  std::string version() const { return pod_ ? pod_->version : std::string(); }
  const std::string& node_uid() const { return node_uid_; }
  const std::string& address() const { return address_; }

  // Commands of the host.
  void go() { is_go_wanted_ = true; }
  void kill(bool immediately, std::optional<Seconds> grace);
  void signal(std::uint64_t number, std::int32_t signal, bool script_only);
  void set_limit(std::optional<Seconds> limit);
  // The gate learns what of its output is stored.
  void set_output(const OutputState& state);
  // The controller does not wait for the end. What is unknown, because the pod or its node is gone, counts as lost.
  void give_up();
  // The end is recorded, or nothing waits for it: the pod is removed.
  void release();

  // News of the pod.
  void observe(const PodObject& pod);
  void vanish();                              // there is no such pod any more
  void node_booted(const std::string& boot);  // the boot of its node, now
  void node_removed();                        // Kubernetes has no such node any more
  void node_found();                          // it was not removed, or is there again
  void tick(node::Moment now);
  std::optional<Time> next_deadline() const;

  // The next call to make; none: nothing, or one is in flight, or the last one failed and it is too early.
  // `may_go`: its node is known to be the one that the pod is for. If it is not, a go that was perhaps written is not written again: the
  // pod is deleted, and its gate says whether it has read the go.
  std::optional<PodAction> next(BootTime now, bool may_go = true);
  // When to ask again, if nothing happens before.
  std::optional<BootTime> retry_at() const;
  void succeeded(const PodAction& action, const std::string& uid);
  void wrote_go(GateGo go);
  void failed(const PodAction& action, Failure failure, const std::string& why, BootTime now);

  // What is known. `never_ran` is set with the phase never_ran.
  AttemptReport report() const;
  const std::optional<NeverRan>& never_ran() const { return never_ran_; }
  // Whether user code may run on the node.
  bool may_run() const { return has_go() && !has_ended(); }
  // Whether it was told to start, or perhaps was.
  bool has_go() const { return go_ || is_go_sent_; }
  bool has_ended() const { return end_.has_value(); }
  // Its next call is to create its pod.
  bool is_beginning() const { return !is_created_ && !in_flight_ && !must_end(); }
  // Its gate says that the script has run and ended.
  bool has_script_ended() const { return has_script_ended_; }
  bool has_vanished() const { return has_vanished_; }
  bool is_node_gone() const { return is_node_gone_; }
  // What its pod says of its output, once the go is given; none: it is not read.
  std::optional<OutputState> output() const { return pod_ && go_ ? pod_->output : std::nullopt; }
  // The pod is being deleted by another client of Kubernetes, and takes its log with it.
  bool is_log_going() const { return pod_ && pod_->is_deleted && !has_ended(); }
  bool was_killed() const { return kill_grace_.has_value(); }
  bool is_released() const { return is_released_; }
  bool is_forgotten() const {
    return is_released_ && (has_vanished_ || !is_created_) && !in_flight_;
  }

 private:
  void fail_before_go(bool is_nodes_fault, std::string cause);
  void look_for_failure(const PodObject& pod);
  void look_for_end();
  void end_as_never_ran();
  void end_as_not_begun(const PodObject& pod, const std::string& why);
  void end_as_lost(std::string why);
  std::string doubt() const;
  void end_with(const PodObject& pod);
  std::optional<Time> limit_at() const;
  bool must_end() const {
    return kill_grace_.has_value() || is_released_ || never_ran_.has_value();
  }
  std::optional<BootTime> end_step_at() const;
  std::optional<PodAction> ending(BootTime now);

  Launch launch_;
  std::string node_uid_;
  std::string uid_;
  std::string address_;
  std::optional<PodObject> pod_;  // as last seen

  bool is_created_ = false, has_secret_ = false, is_bound_ = false;
  bool is_ready_ = false, has_vanished_ = false, is_released_ = false;
  bool is_node_gone_ = false, is_given_up_ = false;
  bool is_go_wanted_ = false, is_go_sent_ = false;  // sent: perhaps written
  bool is_go_withdrawn_ = false;
  std::optional<GateGo> go_;
  std::optional<Seconds> limit_;
  bool is_past_limit_ = false, has_warned_ = false;
  std::optional<std::int64_t> kill_grace_;             // asked for
  std::optional<std::int64_t> deleted_grace_;          // sent
  std::optional<BootTime> terminated_at_, killed_at_;  // by signals that the gate passes on
  bool is_finalizer_removed_ = false;
  std::vector<std::pair<std::string, std::string>> annotations_;  // to be written

  bool in_flight_ = false;
  std::optional<BootTime> retry_at_;
  std::optional<NeverRan> never_ran_;
  std::optional<AttemptReport> end_;
  bool has_script_ended_ = false;
};

}  // namespace ares::kubernetes
