// The API objects and changes of objects that kubelets write. Values and pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "kubernetes_scale/simulated/pods.h"

namespace ares::kubernetes_scale {

// "node-00042"
std::string node_name(std::size_t number);

struct NodeShape {
  unsigned cpus = 16;
  unsigned memory_gib = 64;
  unsigned pods = 110;
};

// As a kubelet registers itself, ready at once.
std::string node_manifest(const std::string& name, const NodeShape& shape, Time now);

// A merge patch of a Node without the taint that the API server gives each new node.
std::string untainting_patch();

std::string lease_manifest(const std::string& node, Time now);
std::string lease_renewal(Time now);  // a merge patch

// Strategic merge patches of a pod's status. The one of an end has the message that the gate of a job leaves.
std::string running_patch(const SeenPod& pod, Time now);
std::string ended_patch(const SeenPod& pod, bool is_killed, Time now);

// Of a pod that was deleted and does not run any more.
std::string removal_options(const SeenPod& pod);

}  // namespace ares::kubernetes_scale
