#include "os/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "os/fd.h"
#include "os/file.h"
#include "os/sweep.h"

namespace ares::os {
namespace {

bool write_value(const std::string& path, std::string_view value) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string w; words >> w;)
    if (w == word) return true;
  return false;
}

bool has_item(const std::string& list, std::string_view item) {
  std::istringstream items(list);
  for (std::string i; std::getline(items, i, ',');)
    if (i == item) return true;
  return false;
}

struct Hierarchy {
  std::string mount;  // empty = not mounted
  std::string own;    // this process's group, "/" for the root group

  std::string own_directory() const { return own == "/" ? mount : mount + own; }
};

// `controller` empty means the unified hierarchy.
Hierarchy find_hierarchy(const std::string& mounts, const std::string& self,
                         std::string_view controller) {
  Hierarchy found;
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT MAJ:MIN ROOT MOUNT OPTIONS [TAGS…] - TYPE SOURCE SUPER
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string skip, root, mount, type, source, super;
    left >> skip >> skip >> skip >> root >> mount;
    right >> type >> source >> super;
    if (controller.empty() ? type == "cgroup2" : type == "cgroup" && has_item(super, controller))
      found.mount = mount;
  }
  if (found.mount.empty()) return found;
  std::istringstream groups(self);
  for (std::string line; std::getline(groups, line);) {
    // ID:CONTROLLERS:PATH; the unified hierarchy has no controllers
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_item(controllers, controller))
      found.own = line.substr(second + 1);
  }
  if (found.own.empty()) found.mount.clear();
  return found;
}

std::string place(const Hierarchy& hierarchy, const std::string& name) {
  return hierarchy.mount.empty() ? std::string() : hierarchy.own_directory() + "/" + name;
}

// Makes the group and returns its path, or "" if the group cannot be used.
std::string make_group(const std::string& path) {
  if (path.empty() || (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)) return {};
  if (::access((path + "/cgroup.procs").c_str(), W_OK) == 0) return path;
  ::rmdir(path.c_str());
  return {};
}

}  // namespace

std::optional<Cgroup> Cgroup::plan(const std::string& name, Bytes memory) {
  Result<std::string> mounts = read_file("/proc/self/mountinfo");
  Result<std::string> self = read_file("/proc/self/cgroup");
  if (!mounts || !self) return std::nullopt;
  return plan(name, memory, *mounts, *self);
}

std::optional<Cgroup> Cgroup::plan(const std::string& name, Bytes memory, const std::string& mounts,
                                   const std::string& self) {
  Places places;
  places.unified = place(find_hierarchy(mounts, self, {}), name);
  places.freezer = place(find_hierarchy(mounts, self, "freezer"), name);
  if (memory.value() > 0) places.memory = place(find_hierarchy(mounts, self, "memory"), name);
  if (places.unified.empty() && places.freezer.empty() && places.memory.empty())
    return std::nullopt;
  return Cgroup(std::move(places), memory);
}

bool Cgroup::create() {
  unified_ = make_group(places_.unified);
  const bool freezes =
      !unified_.empty() && ::access((unified_ + "/cgroup.freeze").c_str(), W_OK) == 0;
  freezer_ = freezes ? unified_ : make_group(places_.freezer);
  if (memory_limit_.value() > 0) limit_memory(std::to_string(memory_limit_.value()));
  return !unified_.empty() || !memory_.empty() || !freezer_.empty();
}

void Cgroup::limit_memory(const std::string& limit) {
  if (!unified_.empty()) {
    Result<std::string> controllers = read_file(unified_ + "/cgroup.controllers");
    if (controllers && has_word(*controllers, "memory")) {
      memory_ = unified_;
      memory_is_v2_ = true;
      limits_memory_ = write_value(unified_ + "/memory.max", limit);
      write_value(unified_ + "/memory.swap.max", "0");
    }
  }
  if (limits_memory_) return;
  memory_ = make_group(places_.memory);
  memory_is_v2_ = false;
  limits_memory_ = !memory_.empty() && write_value(memory_ + "/memory.limit_in_bytes", limit);
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : places_(std::move(other.places_)),
      memory_limit_(other.memory_limit_),
      unified_(std::exchange(other.unified_, {})),
      memory_(std::exchange(other.memory_, {})),
      freezer_(std::exchange(other.freezer_, {})),
      limits_memory_(other.limits_memory_),
      memory_is_v2_(other.memory_is_v2_) {}

Cgroup::~Cgroup() {
  for (const std::string& directory : {freezer_, memory_, unified_})
    if (!directory.empty()) ::rmdir(directory.c_str());
}

std::string Cgroup::directories() const {
  std::string result;
  for (const std::string& directory : {places_.unified, places_.memory, places_.freezer})
    if (!directory.empty()) result += (result.empty() ? "" : ":") + directory;
  return result;
}

Fd Cgroup::open_unified() const {
  return unified_.empty() ? Fd() : Fd(::open(unified_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

Status Cgroup::attach(pid_t pid, bool born_in_unified) {
  const auto join = [pid](const std::string& directory) -> Status {
    if (directory.empty() || write_value(directory + "/cgroup.procs", std::to_string(pid)))
      return {};
    return fail(errno_error("cannot move the task into " + directory));
  };
  if (!born_in_unified)
    if (Status joined = join(unified_); !joined) return joined;
  if (memory_ != unified_)
    if (Status joined = join(memory_); !joined) return joined;
  return freezer_ == unified_ || freezer_ == memory_ ? Status{} : join(freezer_);
}

bool Cgroup::freeze() {
  if (freezer_.empty()) return false;
  if (freezer_ == unified_) return write_value(freezer_ + "/cgroup.freeze", "1");
  return write_value(freezer_ + "/freezer.state", "FROZEN");
}

void Cgroup::thaw() {
  if (freezer_.empty()) return;
  if (freezer_ == unified_)
    write_value(freezer_ + "/cgroup.freeze", "0");
  else
    write_value(freezer_ + "/freezer.state", "THAWED");
}

void Cgroup::kill() {
  kill_groups(freezer_ == unified_ ? unified_ : unified_ + ":" + freezer_);
}

bool Cgroup::ran_out_of_memory() const {
  if (!limits_memory_) return false;
  Result<std::string> events =
      read_file(memory_ + (memory_is_v2_ ? "/memory.events" : "/memory.oom_control"));
  if (!events) return false;
  std::istringstream words(*events);
  for (std::string key, value; words >> key >> value;)
    if (key == "oom_kill") return value != "0";
  return false;
}

}  // namespace ares::os
