#include "os/hierarchies.h"

#include <sstream>

#include "os/file.h"

namespace ares::os {
namespace {

bool has_item(const std::string& list, std::string_view item) {
  std::istringstream items(list);
  for (std::string i; std::getline(items, i, ',');)
    if (i == item) return true;
  return false;
}

struct Mount {
  std::string root;   // the group that is seen at `point`
  std::string point;  // empty = not mounted
};

// `controller` empty means the unified hierarchy.
Mount find_mount(const std::string& mounts, std::string_view controller) {
  Mount found;
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT MAJ:MIN ROOT MOUNT OPTIONS [TAGS…] - TYPE SOURCE SUPER
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string skip, root, point, type, source, super;
    left >> skip >> skip >> skip >> root >> point;
    right >> type >> source >> super;
    if (controller.empty() ? type == "cgroup2" : type == "cgroup" && has_item(super, controller))
      found = {root, point};
  }
  return found;
}

std::string find_own(const std::string& self, std::string_view controller) {
  std::string found;
  std::istringstream groups(self);
  for (std::string line; std::getline(groups, line);) {
    // ID:CONTROLLERS:PATH; the unified hierarchy has no controllers
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_item(controllers, controller))
      found = line.substr(second + 1);
  }
  return found;
}

}  // namespace

Result<Hierarchies> Hierarchies::of_this_process() {
  Result<std::string> mounts = read_file("/proc/self/mountinfo");
  if (!mounts) return fail(mounts.error());
  Result<std::string> self = read_file("/proc/self/cgroup");
  if (!self) return fail(self.error());
  return Hierarchies(std::move(*mounts), std::move(*self));
}

std::string Hierarchies::unified() const {
  std::string own = own_group({});
  if (own.ends_with("/" + std::string(kSupervisorsGroup))) own.resize(own.rfind('/'));
  return own;
}

std::vector<Hierarchy> Hierarchies::all() const {
  std::vector<Hierarchy> found;
  std::istringstream groups(self_);
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    Hierarchy hierarchy;
    hierarchy.controllers = line.substr(first + 1, second - first - 1);
    // All controllers of a line are mounted together.
    const std::string one = hierarchy.controllers.substr(0, hierarchy.controllers.find(','));
    hierarchy.root = find_mount(mounts_, one).point;
    hierarchy.own = own_group(one);
    if (!hierarchy.own.empty()) found.push_back(std::move(hierarchy));
  }
  return found;
}

std::string Hierarchies::own_group(std::string_view controller) const {
  const auto known = found_.find(controller);
  if (known != found_.end()) return known->second;
  return found_.emplace(controller, find_own_group(controller)).first->second;
}

std::string Hierarchies::find_own_group(std::string_view controller) const {
  const Mount mount = find_mount(mounts_, controller);
  std::string own = find_own(self_, controller);
  if (mount.point.empty() || own.empty()) return {};
  // In a container, the mount may show the container's group only, while `self` is the whole path.
  if (mount.root != "/" && (own == mount.root || own.starts_with(mount.root + "/")))
    own.erase(0, mount.root.size());
  return own.empty() || own == "/" ? mount.point : mount.point + own;
}

}  // namespace ares::os
