#include "node/job_files.h"

#include <cstddef>

namespace ares::node {

std::string deadline_file(std::string_view directory) {
  return std::string(directory) + "/deadline";
}

std::string checkpoint_directory(const LaunchSpec& launch) {
  if (!launch.spec->checkpoint) return {};
  const std::string& place = launch.spec->checkpoint->place;
  const std::string number = std::to_string(launch.own_id.value());
  // Of a job that began under an earlier release, which had no folder for the cluster.
  std::string old = place + "/" + number;
  if (!launch.checkpoints.empty()) {
    const std::string& newest = launch.checkpoints.front().uri;
    if (newest.starts_with(old + "/") && newest.rfind('/') == old.size()) return old;
  }
  return place + "/" + launch.cluster_name + "/" + number;
}

std::string host_file(std::string_view directory) {
  return std::string(directory) + "/hosts";
}

bool has_host_file(const LaunchSpec& launch) {
  return launch.layout->names.size() > 1 || launch.share.tasks > 1;
}

std::string host_file_text(const LaunchSpec& launch) {
  std::string text;
  for (std::size_t i = 0; i < launch.layout->names.size(); ++i)
    text += launch.layout->names[i] + " slots=" + std::to_string(launch.layout->tasks[i]) + "\n";
  return text;
}

}  // namespace ares::node
