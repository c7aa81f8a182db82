// The API objects of one attempt on one node: its pod, the Secret with what it runs, the binding, and changes of the pod.
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/agent/nodes/node_object.h"
#include "exec/kubernetes/agent/pods/launch.h"
#include "exec/kubernetes/gate/gate_text.h"
#include "exec/kubernetes/settings/settings.h"
#include "node/step_spec.h"

namespace ares::kubernetes {

// Script, environment and settings together.
inline constexpr std::size_t kMostOfSecret = 900 << 10;

// Whether the pod runs the script, and not only holds its part of the allocation.
bool runs_script(const LaunchSpec& spec);

// Why the attempt cannot run as a pod: nothing, or invalid_argument or permission_denied, which are the job's fault.
Status check_launch(const Launch& launch, const Settings& settings, const NodeObject& node);

// Precondition of this and the next one: check_launch() has nothing against it.
std::string pod_manifest(const Launch& launch, const Settings& settings, const NodeObject& node);

// `pod_uid`: owns it, so that it goes with the pod. `at`: for variables that name the time.
std::string secret_manifest(const Launch& launch, const Settings& settings,
                            const std::string& pod_uid, Time at);

// Binds the very pod that was made or last seen: the API server refuses it for one of another uid or version.
std::string binding_manifest(const std::string& pod, const std::string& uid,
                             const std::string& version, const std::string& node);

// A merge patch that sets one annotation, if the pod is still this one.
std::string annotation_patch(const std::string& uid,
                             const std::vector<std::pair<std::string, std::string>>& annotations);
// A JSON patch that removes the finalizer at that place of the list.
std::string finalizer_patch(const std::string& uid);

std::string delete_options(const std::string& uid, std::int64_t grace_s);

// The permission to run, with what is known only now.
GateGo go_of(const node::StepSpec& spec, Time at, const std::string& boot_id,
             std::vector<std::string> hosts);

}  // namespace ares::kubernetes
