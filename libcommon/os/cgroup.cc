#include "os/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

std::string place(const std::string& own_group, const std::string& name) {
  return own_group.empty() ? std::string() : own_group + "/" + name;
}

// Makes the group and returns its path, or "" if the group cannot be used.
std::string make_group(const std::string& path) {
  if (path.empty() || (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)) return {};
  if (::access((path + "/cgroup.procs").c_str(), W_OK) == 0) return path;
  ::rmdir(path.c_str());
  return {};
}

}  // namespace

std::optional<Cgroup> Cgroup::plan(const std::string& name, Limits limits) {
  const Result<Hierarchies> hierarchies = Hierarchies::of_this_process();
  if (!hierarchies) return std::nullopt;
  return plan(name, std::move(limits), *hierarchies);
}

std::optional<Cgroup> Cgroup::plan(const std::string& name, Limits limits,
                                   const Hierarchies& hierarchies) {
  Places places;
  places.unified = place(hierarchies.unified(), name);
  places.freezer = place(hierarchies.v1("freezer"), name);
  LimitGroups groups(hierarchies, name, std::move(limits));
  if (places.unified.empty() && places.freezer.empty() && groups.directories().empty())
    return std::nullopt;
  return Cgroup(std::move(places), std::move(groups));
}

std::optional<Cgroup> Cgroup::plan_ahead(const std::string& name, const Hierarchies& hierarchies) {
  return plan(name, Limits::of_each_kind(), hierarchies);
}

void Cgroup::make_places() {
  unified_ = make_group(places_.unified);
  const bool freezes =
      !unified_.empty() && ::access((unified_ + "/cgroup.freeze").c_str(), W_OK) == 0;
  freezer_ = freezes ? unified_ : make_group(places_.freezer);
}

bool Cgroup::create() {
  make_places();
  limits_.create(unified_);
  return !unified_.empty() || !freezer_.empty() || limits_.in_force();
}

bool Cgroup::create_ahead() {
  make_places();
  return limits_.create_ahead() || !unified_.empty() || !freezer_.empty();
}

Status Cgroup::limit(Limits limits, pid_t pid) {
  limits_.limit(std::move(limits), unified_);
  return limits_.attach(pid);
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : places_(std::move(other.places_)),
      unified_(std::exchange(other.unified_, {})),
      freezer_(std::exchange(other.freezer_, {})),
      limits_(std::move(other.limits_)) {}

Cgroup::~Cgroup() {
  for (const std::string& directory : {freezer_, unified_})
    if (!directory.empty()) ::rmdir(directory.c_str());
}

std::string Cgroup::directories() const {
  std::string result;
  const auto add = [&result](const std::string& directory) {
    if (!directory.empty()) result += (result.empty() ? "" : ":") + directory;
  };
  add(places_.unified);
  add(places_.freezer);
  for (const std::string& directory : limits_.directories()) add(directory);
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
  if (freezer_ != unified_)
    if (Status joined = join(freezer_); !joined) return joined;
  return limits_.attach(pid);
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

}  // namespace ares::os
