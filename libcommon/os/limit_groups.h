// LimitGroups: what an attempt may use of its machine, kept by the kernel: each limit in the cgroup
// hierarchy that owns its controller here. Owned by Cgroup; one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "os/hierarchies.h"

namespace ares::os {

struct Limits {
  Bytes memory{};                             // with what it swaps; 0 = no limit
  std::vector<std::uint32_t> cpus{};          // numbers of its CPUs; empty = any
  std::vector<std::uint32_t> memory_nodes{};  // NUMA nodes of its memory; empty = any
  std::uint32_t cpu_count = 0;                // where it cannot be kept on these; 0 = no limit
  std::uint64_t processes = 0;                // with threads; 0 = no limit
  std::vector<std::string> denied_devices{};  // "c 195:0": neither to open nor to make

  // One of each kind, to plan groups for limits that are not known yet. The amounts do not matter.
  static Limits of_each_kind();
};

// What all processes of a group used together, as far as the kernel counted it.
struct GroupUse {
  Bytes peak_memory{};  // with the page cache that is charged to the group; 0 = not counted
  Duration user_cpu{}, system_cpu{};  // 0 = not counted
};

class LimitGroups {
 public:
  // Creates nothing: directories() can be recorded first.
  LimitGroups(const Hierarchies& hierarchies, const std::string& name, Limits limits);
  LimitGroups(LimitGroups&& other) noexcept;
  LimitGroups& operator=(LimitGroups&&) = delete;
  ~LimitGroups();  // removes the groups created, which must be empty by then

  // All v1 groups that create() may create.
  const std::vector<std::string>& directories() const { return planned_; }
  // Sets the limits: in `unified`, the attempt's group on the unified hierarchy, those whose
  // controllers are there; the others in v1 groups.
  void create(const std::string& unified);
  // Makes the v1 groups that most limits need, with what their parents allow, so that a process can
  // enter them before its limits are known. False if there are none.
  bool create_ahead();
  // After create_ahead(): create() for these limits.
  void limit(Limits limits, const std::string& unified);
  // Moves the process into the v1 groups that it has not entered by an earlier call.
  Status attach(pid_t pid);

  bool in_force() const { return memory_.on || cpus_ || cpu_time_ || processes_ || devices_; }
  bool limits_memory() const { return memory_.on; }
  bool keeps_cpus() const { return cpus_; }           // the processes are kept on their CPUs
  bool limits_cpu_time() const { return cpu_time_; }  // or get no more time than that of as many
  bool limits_processes() const { return processes_; }
  bool denies_devices() const { return devices_; }
  bool ran_out_of_memory() const;
  // Complete once the groups are empty.
  GroupUse use() const;

 private:
  struct Place {         // of a controller
    std::string parent;  // our own v1 group; empty = there is none
    std::string group;   // planned below it
  };
  struct Memory {
    bool on = false;
    std::string events;  // file that counts processes killed for want of memory
    std::string peak;    // file with the most that was used
  };

  Place place(const Hierarchies& hierarchies, const char* controller);
  bool has(const char* controller) const;
  std::string make(const Place& place);
  bool limit_memory();
  bool keep_on_cpus();
  std::string make_cpuset(const std::string& cpus);
  bool limit_cpu_time();
  bool limit_processes();
  bool deny_devices();

  Limits limits_;
  std::string name_;
  Place memory_place_, cpuset_place_, cpu_place_, pids_place_, devices_place_;
  std::vector<std::string> planned_;
  std::string unified_;
  std::string controllers_;  // of unified_
  std::vector<std::string> made_, entered_;
  pid_t entered_by_ = 0;
  Memory memory_;
  bool cpus_ = false, cpu_time_ = false, processes_ = false, devices_ = false;
};

}  // namespace ares::os
