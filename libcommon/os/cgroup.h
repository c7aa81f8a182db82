// Cgroup: one control group for an attempt, on whichever hierarchies this machine has and this process may write.
// Owned by aresstepd; one thread. All of it is optional: without cgroups jobs run, but memory limits are not enforced.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "os/fd.h"

namespace ares::os {

class Cgroup {
 public:
  // Where the group `name` below this process's own group would be: on the unified hierarchy (freezing), under the memory
  // controller of version 1 and under its freezer. Nothing is made yet, so that directories() can be recorded first: a process that
  // dies between the two leaves nothing that nobody knows of. `memory` 0 = no limit. None when there is no hierarchy at all.
  // `mounts` is the text of a mountinfo file, `self` of /proc/self/cgroup.
  static std::optional<Cgroup> plan(const std::string& name, Bytes memory);
  static std::optional<Cgroup> plan(const std::string& name, Bytes memory,
                                    const std::string& mounts, const std::string& self);
  // Makes what is needed of them: the unified one, that of memory where the unified one cannot limit it, the freezer where the
  // unified one cannot freeze. False when not one could be made.
  bool create();

  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // removes what it made, which must be empty by then

  // The group on the unified hierarchy, for clone3's CLONE_INTO_CGROUP; closed where there is none. To be born in a group costs
  // nothing; to be moved into one waits for a grace period of the kernel's, some milliseconds.
  Fd open_unified() const;
  // Moves the process into the groups; `born_in_unified`: into the others.
  Status attach(pid_t pid, bool born_in_unified = false);
  bool can_freeze() const { return !freezer_.empty(); }
  bool freeze();
  void thaw();
  bool kill();  // everything in it, at once; false where the kernel has no such command
  bool ran_out_of_memory() const;
  bool limits_memory() const { return limits_memory_; }
  std::string directories() const;  // all that create() may make, separated by ':'

 private:
  struct Places {  // of the hierarchies that are there; empty = not there
    std::string unified, memory, freezer;
  };
  Cgroup(Places places, Bytes memory) : places_(std::move(places)), memory_limit_(memory) {}

  void limit_memory(const std::string& limit);

  Places places_;
  Bytes memory_limit_;
  // What was made of them; empty = not made, or not needed.
  std::string unified_;  // directory on the unified hierarchy
  std::string memory_;   // directory that limits memory, may be unified_
  std::string freezer_;  // directory that freezes: unified_ or of the v1 freezer
  bool limits_memory_ = false;
  bool memory_is_v2_ = false;
};

}  // namespace ares::os
