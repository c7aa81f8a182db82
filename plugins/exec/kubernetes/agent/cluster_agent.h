// The backend of the exec plugin `kubernetes`: one agent for all nodes of a Kubernetes cluster, and the pods of Ares' jobs there.
// It keeps nothing on disk: what it must know after a restart is in the pods. Owned by the plugin's instance; one thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/adapter/backend.h"
#include "exec/kubernetes/agent/lease/lease_holder.h"
#include "exec/kubernetes/agent/nodes/node_table.h"
#include "exec/kubernetes/agent/output/output_follower.h"
#include "exec/kubernetes/agent/pods/pod_attempt.h"
#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/api/object_watch.h"
#include "exec/kubernetes/settings/settings.h"

namespace ares::kubernetes {

class ClusterAgent final : public exec::Backend {
 public:
  // Waits until no other agent is active, and until it knows all nodes and pods. The error says what is missing, such as a permission.
  static Result<std::unique_ptr<exec::Backend>> open(std::string options, exec::NodeEvents& nodes);

  ClusterAgent(Settings settings, std::unique_ptr<ApiClient> client, exec::NodeEvents& nodes);
  ~ClusterAgent() override;

  Result<std::unique_ptr<node::Executor>> add_node(exec::AddedNode node,
                                                   node::ExecutorEvents& events,
                                                   const exec::LaunchTexts& texts) override;
  int event_fd() const override { return client_->event_fd(); }
  std::optional<BootTime> next_deadline() const override;
  void dispatch(node::Moment now) override;
  void take_output(bool taken) override { output_->take(taken); }

 private:
  class Node;
  struct Entry {
    PodAttempt attempt;
    std::string node;   // as the host knows it
    std::string space;  // of its pod
    std::optional<AttemptReport> told{};
    std::optional<BootTime> scheduled{};
    bool has_ended = false;      // the other ranks know
    bool is_waiting = false;     // in waiting_
    bool is_end_wanted = false;  // the host has asked for it
    // The same attempt, launched while the pod that an earlier agent left unbound is being removed.
    // It begins when that pod is gone.
    std::unique_ptr<PodAttempt> anew{};
    std::string gone_uid{};  // of that pod, whose last changes may still arrive
  };
  using Key = std::pair<std::string, AttemptKey>;  // node and attempt

  Status start();
  Status become_active();
  void pod_changed(const Change& change);
  void node_changed(const Change& change);
  void node_is_missing(const std::string& name);
  void look_at_missing(BootTime now);
  void saw_missing(const std::string& name, const std::string& uid, const ApiResult& result);
  void own_pod_changed(const Change& change, const PodObject& pod);
  void adopt_found();

  Status launch(const std::string& node, Launch launch, node::Moment now);
  Entry* find(const std::string& node, const AttemptKey& key);
  void add(const std::string& name, Entry entry);
  // Calls visit(name of the pod, entry) for the attempts of the node. It must not add or forget one.
  template <class Visit>
  void each_on(const std::string& node, Visit&& visit) {
    const auto pods = pods_on_.find(node);
    if (pods == pods_on_.end()) return;
    for (const std::string& name : pods->second) visit(name, attempts_.at(name));
  }
  void forget(const std::string& name, Entry& entry);
  void proceed(const std::string& name, node::Moment now);
  // Whether a pod may be created now.
  bool can_begin() const;
  void let_begin();
  void perform(const std::string& name, Entry& entry, PodAction action);
  void answered(const std::string& name, const PodAction& action, GateGo go, ApiResult result);
  void look_at_existing(const std::string& name, const PodAction& action);
  void replace_secret(const std::string& name, const PodAction& action);
  void tell(Entry& entry, node::Moment now);
  std::vector<Entry*> ranks_of(const Entry& entry);
  node::ExecutorEvents* events_of(const std::string& node);  // null: the host has not added it
  OutputHooks output_hooks();
  void follow_output(const std::string& name, const Entry& entry);
  bool is_over(const Entry& entry) const;
  AttemptReport report_of(const Entry& entry);
  void end_ranks(Entry& entry);
  void schedule(const std::string& name, Entry& entry, node::Moment now);
  std::vector<std::string> hosts_of(const node::StepSpec& spec) const;

  Settings settings_;
  std::unique_ptr<ApiClient> client_;
  exec::NodeEvents& events_;
  std::unique_ptr<NodeTable> table_;
  std::map<std::string, Node*> nodes_;
  std::map<std::string, Entry> attempts_;                 // by the names of their pods
  std::map<std::string, std::set<std::string>> pods_on_;  // names of pods, by node
  std::map<Key, std::string> names_;
  std::map<std::string, PodObject> found_;  // until all pods are known
  std::set<std::string> touched_;           // attempts with news
  std::deque<std::string> waiting_;         // attempts whose pods are to be created
  std::size_t creations_ = 0;               // calls for that
  std::set<std::pair<BootTime, std::string>> due_;
  std::set<std::string> looked_at_;  // uids of missing nodes, until the call is answered
  std::optional<BootTime> look_at_missing_at_{};  // none: no node is missing
  bool is_started_ = false;
  std::unique_ptr<LeaseHolder> lease_;
  std::unique_ptr<OutputFollower> output_;
  std::unique_ptr<ObjectWatch> node_watch_, pod_watch_;  // destroyed first
};

}  // namespace ares::kubernetes
