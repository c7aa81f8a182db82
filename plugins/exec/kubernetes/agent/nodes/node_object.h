// A node of Kubernetes as its API object describes it. A value, and pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/kubernetes/agent/nodes/pod_requests.h"
#include "model/cluster/resources.h"

namespace ares::kubernetes {

struct NodeObject {
  std::string name;
  std::string uid;
  std::string boot_id;            // of its kernel
  std::uint64_t incarnation = 1;  // grows with each node of that name
  Amounts allocatable{};
  std::map<std::string, std::string> labels{};
  std::string problem{};  // why no pod should start there; empty: it may
};

// `node`: the API object. Without a time of creation, a uid or a name it is none: then the name is empty.
NodeObject read_node(const Json& node);

// A resource of devices that count as GPUs, and their type on that node.
struct GpuResource {
  std::string name;  // "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"
  std::string type;  // "a100", "1g.5gb"
};
std::vector<GpuResource> gpu_resources(const NodeObject& node);

// The matrix of links, as nvidia-smi prints it, of a node with so many GPUs of which the label says that they are all connected. Empty
// without the label, or if the GPUs are of several kinds or parts.
GpuTopology gpu_domain_of(const NodeObject& node, const std::string& label, std::size_t gpus);

// What jobs may have there, if other pods reserve `taken`. `features`: labels that become features.
// Never without CPUs or memory; `is_full` is set if others have reserved all of one of them.
Inventory inventory_of(const NodeObject& node, const Amounts& taken,
                       const std::vector<std::string>& features, bool& is_full);

}  // namespace ares::kubernetes
