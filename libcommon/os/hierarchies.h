// Hierarchies: the mounted cgroup hierarchies, and this process's group in each. A value; one
// thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::os {

class Hierarchies {
 public:
  static Result<Hierarchies> of_this_process();
  // `mounts` is the text of a mountinfo file, `self` the text of /proc/self/cgroup.
  Hierarchies(std::string mounts, std::string self)
      : mounts_(std::move(mounts)), self_(std::move(self)) {}

  // Directory of this process's group on the unified hierarchy, or in the v1 hierarchy of that
  // controller; empty if it is not mounted.
  std::string unified() const { return own_group({}); }
  std::string v1(std::string_view controller) const { return own_group(controller); }

 private:
  std::string own_group(std::string_view controller) const;

  std::string find_own_group(std::string_view controller) const;

  std::string mounts_, self_;
  // What own_group() has found. A fork server looks once for all the processes that it forks.
  mutable std::map<std::string, std::string, std::less<>> found_;
};

}  // namespace ares::os
