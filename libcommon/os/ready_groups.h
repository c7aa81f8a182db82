// ReadyGroups: the control groups of processes that wait for an attempt. They are named after the process
// that made them, so that others can tell whether it lives. Owned by a fork server, and copied into the
// processes that it forks; one thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "os/cgroup.h"
#include "os/hierarchies.h"

namespace ares::os {

class ReadyGroups {
 public:
  ReadyGroups();  // below the groups that this process is in now

  // Those of that process, for TaskTree::prepare(); nullopt where there are no control groups.
  std::optional<Cgroup> plan(pid_t maker) const;

  // Removes those that this process has left. False if one is not empty yet.
  bool remove(pid_t maker) const;

  // Removes those of all processes that do not exist any more, as far as they are empty: one that still
  // holds processes belongs to an attempt, whose records name it.
  void remove_left() const;

  std::vector<std::string> paths(pid_t maker) const;

 private:
  std::optional<Hierarchies> hierarchies_;
};

}  // namespace ares::os
