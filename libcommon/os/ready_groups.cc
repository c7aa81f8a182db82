#include "os/ready_groups.h"

#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <string_view>
#include <utility>

#include "os/groups/step_groups.h"
#include "os/sweep.h"

namespace ares::os {
namespace {

constexpr std::string_view kPrefix = "ares.ready.";

}  // namespace

ReadyGroups::ReadyGroups() {
  if (Result<Hierarchies> found = Hierarchies::of_this_process()) hierarchies_ = std::move(*found);
  (void)plan(0);  // hierarchies_ remembers what it finds
}

std::optional<Cgroup> ReadyGroups::plan(pid_t maker) const {
  if (!hierarchies_) return std::nullopt;
  return Cgroup::plan_ahead(std::string(kPrefix) + std::to_string(maker), *hierarchies_);
}

std::vector<std::string> ReadyGroups::paths(pid_t maker) const {
  std::vector<std::string> result;
  const std::optional<Cgroup> planned = plan(maker);
  std::istringstream items(planned ? planned->directories() : std::string());
  for (std::string directory; std::getline(items, directory, ':');) result.push_back(directory);
  return result;
}

bool ReadyGroups::remove(pid_t maker) const {
  bool gone = true;
  for (const std::string& path : paths(maker))
    if (!remove_group(path) && errno == EBUSY) gone = false;
  return gone;
}

void ReadyGroups::remove_left() const {
  for (const std::string& path : paths(0)) remove_left_groups(path.substr(0, path.rfind('/')));
}

}  // namespace ares::os
