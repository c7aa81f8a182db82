// StepGroups: control groups for the memory of steps, below that of their job, where the memory controller
// is one of cgroup version 1. Version 2 permits no groups below one that has processes. Their number is
// fixed and root makes them, so that a job's user cannot make more. Owned by the step host; one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace ares::os {

// Removes the control group of a job that has ended, and those of steps below it, whose processes it kills and
// waits for, for a second. False, with errno, as rmdir.
bool remove_group(const std::string& path);

class StepGroups {
 public:
  static constexpr std::size_t kMost = 8;

  // Makes them below the memory group of this process, which must be that of a job limited to `limit`, and
  // lets the user set their limits. To be called before the process becomes that user.
  static Result<std::unique_ptr<StepGroups>> make(Bytes limit, uid_t user);
  // Below `parent`, which is a memory group of version 1.
  static Result<std::unique_ptr<StepGroups>> make_below(const std::string& parent, uid_t user);

  // One that is given back when it is destroyed. Its groups must outlive it.
  class Group {
   public:
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    const std::string& path() const { return path_; }
    // Whether processes of it were killed for want of memory since it was taken.
    bool ran_out_of_memory() const;

   private:
    friend class StepGroups;
    Group(StepGroups& groups, std::size_t number);

    StepGroups& groups_;
    std::size_t number_;
    std::string path_;
    std::int64_t killed_before_;
  };
  // A group without processes, with this limit. resource_exhausted: all are in use.
  Result<std::unique_ptr<Group>> take(Bytes limit);

 private:
  explicit StepGroups(std::string parent) : parent_(std::move(parent)) {}

  std::string parent_;
  std::array<bool, kMost> taken_{};
};

}  // namespace ares::os
