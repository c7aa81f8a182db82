// What a job asks of the containers in which it runs (asub --container-image and its companions). Plain data; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ares {

inline constexpr std::size_t kMostContainerMounts = 64;
inline constexpr std::size_t kMostContainerVariables = 256;
inline constexpr std::size_t kLongestImageName = 512;
inline constexpr std::size_t kLongestPodTemplate = 64 << 10;  // bytes

// A directory of the node, as the container sees it.
struct ContainerMount {
  std::string source;  // absolute path on the node
  std::string target;  // absolute path in the container
  bool is_read_only = false;
  friend bool operator==(const ContainerMount&, const ContainerMount&) = default;
};

struct ContainerRequest {
  std::string image;  // empty = the partition's, else the node's
  std::vector<ContainerMount> mounts;
  std::string work_dir;                // absolute; empty = the job's working directory
  std::vector<std::string> variables;  // names: the submitter's values win over the image's
  bool is_per_rank = false;            // the script runs in each container, not only in the first
  std::string pod_template;            // JSON text; only where pods are made
  std::string space;                   // namespace of its pods; empty = the node's
  std::string service_account;         // of its pods; empty = none
  friend bool operator==(const ContainerRequest&, const ContainerRequest&) = default;
};

}  // namespace ares
