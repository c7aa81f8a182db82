// What a job's pods are to be, as its request, its partition and the settings of the agent say together. A value and pure functions;
// any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exec/kubernetes/agent/pods/launch.h"
#include "exec/kubernetes/settings/settings.h"

namespace ares::kubernetes {

// A folder below one of the mounted ones.
struct PodMount {
  std::size_t volume = 0;  // index into Settings::mounts
  std::string below;       // relative path there; empty: all of it
  std::string source;      // on the node
  std::string target;      // in the container
  bool is_read_only = false;
};

struct PodContainer {
  std::string image;
  std::string directory;           // in which the script starts
  bool needs_directory = false;    // it must exist in the container
  std::vector<PodMount> mounts{};  // in addition to the settings'
  std::string service_account{};   // empty: none
  std::string pod_template{};      // accepted by read_pod_template(); empty: none
};

// The namespace of a job's pods.
const std::string& space_of(const JobSpec& job, const Settings& settings);

// Whether the user may have the namespace and the service account that the job names. permission_denied: no.
Status check_grants(const Launch& launch, const Settings& settings);

// invalid_argument: the job asks for what the site does not allow or have.
Result<PodContainer> container_of(const Launch& launch, const Settings& settings);

}  // namespace ares::kubernetes
