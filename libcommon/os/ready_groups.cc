#include "os/ready_groups.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include "os/file.h"
#include "os/sweep.h"

namespace ares::os {
namespace {

constexpr std::string_view kPrefix = "ares.ready.";

// 0 if it is not such a name.
pid_t maker_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() ? pid : 0;
}

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
    if (::rmdir(path.c_str()) != 0 && errno == EBUSY) gone = false;
  return gone;
}

void ReadyGroups::remove_left() const {
  for (const std::string& path : paths(0)) {
    const std::string parent = path.substr(0, path.rfind('/') + 1);
    const Result<std::vector<std::string>> names = list_directory(parent);
    if (!names) continue;
    for (const std::string& name : *names) {
      const pid_t maker = maker_of(name);
      if (maker > 0 && process_gone(maker, 0)) ::rmdir((parent + name).c_str());
    }
  }
}

}  // namespace ares::os
