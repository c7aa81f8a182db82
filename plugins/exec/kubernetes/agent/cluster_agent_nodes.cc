// What a ClusterAgent does with news of nodes and pods.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/cluster_agent.h"
#include "os/clock.h"

namespace ares::kubernetes {
namespace {

// Until a missing node is looked at again, of which it was not found out whether it exists; and of one that does.
constexpr std::chrono::seconds kLookAgain{10};
constexpr std::chrono::seconds kLookAtLiving{60};

}  // namespace

void ClusterAgent::node_changed(const Change& change) {
  if (change.kind == Change::Kind::deleted) {
    table_->remove_node(change.name);
    return node_is_missing(change.name);
  }
  NodeObject node = read_node(*change.object);
  const std::string host_name = settings_.node_prefix + node.name;
  each_on(host_name, [&](const std::string& name, Entry& entry) {
    if (entry.attempt.node_uid() == node.uid) {
      entry.attempt.node_found();
      entry.attempt.node_booted(node.boot_id);
    } else {
      entry.attempt.node_removed();  // another node has its name
    }
    touched_.insert(name);
  });
  table_->set_node(std::move(node));
}

// --- nodes that are gone ------------------------------------------------------------------------------

// An event `deleted` also comes of a node that the selector does not select any more. An attempt that waits for its go is ended in both
// cases. One that has it runs on, unless Kubernetes says that there is no such node.
void ClusterAgent::node_is_missing(const std::string& node) {
  each_on(settings_.node_prefix + node, [&](const std::string& name, Entry& entry) {
    if (entry.attempt.may_run()) return;
    entry.attempt.node_removed();
    touched_.insert(name);
  });
  look_at_missing_at_ = BootTime{};
}

void ClusterAgent::look_at_missing(BootTime now) {
  look_at_missing_at_.reset();
  for (const auto& [name, uid] : table_->missing()) {
    look_at_missing_at_ = now + kLookAtLiving;
    if (!looked_at_.insert(uid).second) continue;
    client_->call({.call = Call::get_node, .target = {"", name}},
                  [this, name = name, uid = uid](const ApiResult& result) {
                    saw_missing(name, uid, result);
                  });
  }
}

void ClusterAgent::saw_missing(const std::string& node, const std::string& uid,
                               const ApiResult& result) {
  looked_at_.erase(uid);
  std::string found;  // the uid of the node that has the name now; empty: none has
  if (result) {
    if (const Result<Json> object = parse_object(result->body, "the answer"))
      found = read_node(*object).uid;
  }
  if (result ? found.empty() : result.error().failure != Failure::not_found) {
    look_at_missing_at_ = os::boot_now() + kLookAgain;
    return;
  }
  table_->found_missing(node, uid, found != uid);
  each_on(settings_.node_prefix + node, [&](const std::string& name, Entry& entry) {
    if (entry.attempt.node_uid() != uid) return;
    if (found != uid)
      entry.attempt.node_removed();
    else
      entry.attempt.node_found();
    touched_.insert(name);
  });
}

// --- pods -----------------------------------------------------------------------------------------

void ClusterAgent::pod_changed(const Change& change) {
  const std::optional<PodObject> own =
      change.object ? read_pod(*change.object, settings_.cluster) : std::nullopt;
  if (own) return own_pod_changed(change, *own);
  if (change.kind == Change::Kind::deleted) {
    // Without its last state only the name says whose it was.
    if (const auto it = attempts_.find(change.name); it != attempts_.end() &&
                                                     change.space == it->second.space &&
                                                     it->second.attempt.uid() == change.uid) {
      it->second.attempt.vanish();
      touched_.insert(change.name);
    }
    found_.erase(change.name);
    return table_->remove_pod(change.uid);
  }
  if (change.object && is_reserving(*change.object))
    table_->set_pod(change.uid, text_at(*change.object, {"spec", "nodeName"}),
                    requests_of(*change.object));
  else
    table_->remove_pod(change.uid);
}

void ClusterAgent::own_pod_changed(const Change& change, const PodObject& pod) {
  if (!is_started_) {
    const std::vector<std::string> spaces = job_namespaces(settings_);
    if (std::find(spaces.begin(), spaces.end(), pod.space) == spaces.end()) return;
    if (change.kind == Change::Kind::deleted)
      found_.erase(pod.name);
    else
      found_.insert_or_assign(pod.name, pod);
    return;
  }
  const auto it = attempts_.find(pod.name);
  if (it == attempts_.end() || it->second.space != pod.space || it->second.gone_uid == pod.uid)
    return;
  it->second.attempt.observe(pod);
  if (change.kind == Change::Kind::deleted && it->second.attempt.uid() == pod.uid)
    it->second.attempt.vanish();
  touched_.insert(pod.name);
}

}  // namespace ares::kubernetes
