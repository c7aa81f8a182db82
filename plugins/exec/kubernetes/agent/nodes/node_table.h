// The nodes of Kubernetes and what pods that are not Ares' reserve on them: decides what the host is told of each node.
// Owned by the backend; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/adapter/found_node.h"
#include "exec/kubernetes/agent/nodes/node_object.h"

namespace ares::kubernetes {

struct NodeTableSettings {
  std::string prefix{};
  std::vector<std::string> features{};
  std::string cluster_id{};  // of Kubernetes
  std::string gpu_domain_label{};
};

class NodeTable {
 public:
  // `holds`: whether attempts of this incarnation of a node may still run. As long as they may, another machine of the name is not
  // told: that would say that they have ended.
  using Holds = std::function<bool(const std::string& node, const std::string& uid)>;
  NodeTable(NodeTableSettings settings, Holds holds)
      : settings_(std::move(settings)), holds_(std::move(holds)) {}

  void set_node(NodeObject node);
  void remove_node(const std::string& name);
  // Something may run on a node that an earlier agent has told of, with these resources. If that node is gone, or another one has its
  // name, it is told with its earlier identity as long as `holds` says so.
  void keep_earlier(const std::string& name, const std::string& uid, std::uint64_t incarnation,
                    const Inventory& used);
  // Removed nodes on which something may still run, and of which it is not known whether Kubernetes has them: names and uids.
  std::vector<std::pair<std::string, std::string>> missing() const;
  // What was found out about one of them: it is gone for good, or only not among the nodes that are followed.
  void found_missing(const std::string& name, const std::string& uid, bool is_gone);
  void set_pod(const std::string& uid, const std::string& node, Amounts amounts);
  void remove_pod(const std::string& uid);
  // Of all nodes, such as a server that does not answer; empty: none.
  void set_problem(std::string problem);
  // Whether attempts may still run on the node may have changed.
  void look_again(const std::string& node) { changed_.insert(node); }

  bool has_news() const { return !changed_.empty(); }
  // Tells what has changed since the last call.
  void tell(exec::NodeEvents& events);

  // By the name that the host knows; null: there is none.
  const NodeObject* find(const std::string& host_name) const;

 private:
  struct Entry {
    NodeObject node;
    bool exists = false;
    exec::FoundNode told{};  // with an empty name: nothing
    std::string told_uid{};
    bool is_gone = false;       // the one that was told, for good
    bool is_elsewhere = false;  // it exists, and is not followed
  };
  struct Pod {
    std::string node;
    Amounts amounts;
  };
  struct Removed {
    std::string uid;
    std::uint64_t incarnation;
  };
  void tell_one(const std::string& name, exec::NodeEvents& events);
  std::string identity_of(const std::string& uid) const { return settings_.cluster_id + "/" + uid; }
  exec::FoundNode found(const Entry& entry, const std::string& name) const;

  NodeTableSettings settings_;
  Holds holds_;
  std::string problem_;
  std::map<std::string, Entry> nodes_;  // by their names in Kubernetes
  std::unordered_map<std::string, Pod> pods_;
  std::unordered_map<std::string, Amounts> taken_;  // by node
  std::set<std::string> changed_;
  // The controller takes another node of the name only as a later incarnation.
  std::unordered_map<std::string, Removed> removed_;
};

}  // namespace ares::kubernetes
