// Cgroup: the control groups of an attempt, on those cgroup hierarchies that exist here and are writable for this process.
// Owned by aresstepd; one thread. Cgroups are optional: without them jobs run, but their limits are not enforced.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "os/fd.h"
#include "os/limit_groups.h"

namespace ares::os {

class Cgroup {
 public:
  // Returns the paths that the group `name` below this process's own group would have: on the unified hierarchy,
  // in the v1 freezer hierarchy and in those of v1 that set limits. It creates nothing, so that directories() can be
  // recorded first: a process that dies in between leaves no unknown group behind. nullopt when no hierarchy
  // exists.
  static std::optional<Cgroup> plan(const std::string& name, Limits limits);
  static std::optional<Cgroup> plan(const std::string& name, Limits limits,
                                    const Hierarchies& hierarchies);
  // Creates the groups that are needed: the unified one, the v1 freezer group where the unified one cannot freeze,
  // v1 groups for limits that the unified one cannot set. False when no group could be created.
  bool create();

  // For a process that enters groups before its limits are known: create_ahead(), attach(), limit().
  static std::optional<Cgroup> plan_ahead(const std::string& name, const Hierarchies& hierarchies);
  bool create_ahead();  // false when no group could be created
  Status limit(Limits limits, pid_t pid);

  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // removes the groups created, which must be empty by then

  // The group on the unified hierarchy, for CLONE_INTO_CGROUP of clone3; invalid if it does not exist. Starting a process
  // in a group is cheap; moving a process into one waits for an RCU grace period of the kernel, some milliseconds.
  Fd open_unified() const;
  // Moves the process into the groups; with `born_in_unified` only into the v1 groups.
  Status attach(pid_t pid, bool born_in_unified = false);
  bool can_freeze() const { return !freezer_.empty(); }
  bool freeze();
  void thaw();
  // Sends KILL to all its processes, also to frozen ones, and then thaws what only ends when it runs.
  void kill();
  const LimitGroups& limits() const { return limits_; }
  std::string directories() const;  // all that create() may create, separated by ':'

 private:
  struct Places {  // of the hierarchies that exist; empty = does not exist
    std::string unified, freezer;
  };
  Cgroup(Places places, LimitGroups limits)
      : places_(std::move(places)), limits_(std::move(limits)) {}
  void make_places();

  Places places_;
  // Those that were created; empty = not created, or not needed.
  std::string unified_;  // directory on the unified hierarchy
  std::string freezer_;  // directory that freezes: unified_ or in the v1 freezer
  LimitGroups limits_;
};

}  // namespace ares::os
