// Hierarchies: the mounted cgroup hierarchies, and this process's group in each. A value; one
// thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::os {

// Group of the supervisors in a job slice (os/job_slice.h) of the unified hierarchy, where a group with
// controllers for its children must not have processes of its own.
inline constexpr std::string_view kSupervisorsGroup = "ares.supervisors";

// One mounted hierarchy.
struct Hierarchy {
  std::string controllers;  // "cpu,cpuacct", "name=systemd"; empty = the unified one
  std::string root;         // directory at which it is mounted
  std::string own;          // directory of this process's group
};

class Hierarchies {
 public:
  static Result<Hierarchies> of_this_process();
  // `mounts` is the text of a mountinfo file, `self` the text of /proc/self/cgroup.
  Hierarchies(std::string mounts, std::string self)
      : mounts_(std::move(mounts)), self_(std::move(self)) {}

  // Directory below which this process makes groups of attempts: its own group, or that around the
  // group of supervisors; on the unified hierarchy, or in the v1 hierarchy of that controller. Empty if
  // it is not mounted.
  std::string unified() const;
  std::string v1(std::string_view controller) const { return own_group(controller); }

  std::vector<Hierarchy> all() const;  // those in which this process has a group

 private:
  std::string own_group(std::string_view controller) const;

  std::string find_own_group(std::string_view controller) const;

  std::string mounts_, self_;
  // What own_group() has found. A fork server looks once for all the processes that it forks.
  mutable std::map<std::string, std::string, std::less<>> found_;
};

}  // namespace ares::os
