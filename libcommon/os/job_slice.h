// JobSlice: the control groups of supervisors and their jobs, beside those of the daemon. Whatever ends a daemon's groups, as systemd
// does with those of a service, leaves these alone. Made by aresd at its start and found by each supervisor; one thread.
//
//   GROUP/aresd.service                   the daemon
//   GROUP/ares-jobs.service or ares.jobs  the slice; the first if it exists, which systemd sees to
//     ares.supervisors                    supervisors; in the unified hierarchy only, in others they are in the slice itself
//     ares.JOB.ATTEMPT.PID                processes of an attempt (os/cgroup.h)
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "os/hierarchies.h"

namespace ares::os {

inline constexpr std::string_view kJobsUnit = "ares-jobs.service";  // etc/systemd
inline constexpr std::string_view kJobsGroup = "ares.jobs";

class JobSlice {
 public:
  struct Place {  // in one hierarchy
    Hierarchy hierarchy;
    std::string groups;  // directory below which groups of attempts are made
    std::string enter;   // group that supervisors enter; empty = they stay
    // Why they stay in a group that the daemon shares with its jobs; empty = they do not, or the group
    // is the root, which nothing ends.
    std::string stays;
  };

  // Finds the groups beside those of this process, and makes what is missing. A group is not left if another
  // program than that of `daemon` (a process) and of its supervisors is in it, too: such a group is that of a
  // login or of a container, whose end is to end what was started in it.
  static JobSlice make(const Hierarchies& own, pid_t daemon);

  const std::vector<Place>& places() const { return places_; }
  // Those of a process that has entered the slice.
  Hierarchies hierarchies() const;
  // Moves a process into the slice, in as many hierarchies as possible. The error is the last one.
  Status enter(pid_t pid) const;
  // Removes groups that killed supervisors have left, if no process is in them.
  void remove_leftovers() const;
  // Removes the groups that make() makes, if nothing is in them.
  void remove() const;

 private:
  std::vector<Place> places_;
};

// Moves this process out of the groups of the daemon that has started it, where that is possible.
void leave_daemon_groups();

}  // namespace ares::os
