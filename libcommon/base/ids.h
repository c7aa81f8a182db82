// Strong identifiers: a JobId cannot be passed where a NodeId is meant.
// Plain values; any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace ares {

template <class Tag, class Rep>
class Id {
 public:
  using rep = Rep;

  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }
  constexpr Id next() const { return Id(static_cast<Rep>(value_ + 1)); }

  friend constexpr auto operator<=>(Id, Id) = default;
  friend constexpr bool operator==(Id, Id) = default;

 private:
  Rep value_{};
};

using ClusterId = Id<struct ClusterIdTag, std::uint16_t>;
using JobId = Id<struct JobIdTag, std::uint64_t>;
using NodeId = Id<struct NodeIdTag, std::uint32_t>;
using TresId = Id<struct TresIdTag, std::uint32_t>;
using UserId = Id<struct UserIdTag, std::uint32_t>;    // POSIX uid
using GroupId = Id<struct GroupIdTag, std::uint32_t>;  // POSIX gid

using AttemptNo = Id<struct AttemptNoTag, std::uint32_t>;  // 1 is a job's first attempt
using Epoch = Id<struct EpochTag, std::uint64_t>;  // grows with every controller that takes over
using Lsn = Id<struct LsnTag, std::uint64_t>;  // journal position, gap-free, 1 is the first event

// The fence of an attempt is the lsn of its Allocated event, so later attempts have higher fences.
using Fence = Id<struct FenceTag, std::uint64_t>;

// Index of a GPU on its node, as in the vendor's tools.
using GpuIndex = Id<struct GpuIndexTag, std::uint16_t>;

// Index of an array task as given by the user; kNone for a job that is not an array task.
struct TaskIndex {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value = kNone;

  constexpr bool is_none() const { return value == kNone; }
  friend constexpr auto operator<=>(TaskIndex, TaskIndex) = default;
};

// The identity of a job. A plain job and an array's own record have no task;
// a task that was split off its array has the array's id and the task's index.
struct JobKey {
  JobId job;
  TaskIndex task;

  friend constexpr auto operator<=>(const JobKey&, const JobKey&) = default;
};

// One execution of a job. It identifies a spool directory on a node, a fence and a usage row.
struct AttemptKey {
  JobKey job;
  AttemptNo attempt;

  friend constexpr auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

}  // namespace ares

template <class Tag, class Rep>
struct std::hash<ares::Id<Tag, Rep>> {
  std::size_t operator()(ares::Id<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};

template <>
struct std::hash<ares::JobKey> {
  std::size_t operator()(const ares::JobKey& key) const noexcept {
    return std::hash<std::uint64_t>{}(key.job.value() * 0x9e3779b97f4a7c15ULL ^ key.task.value);
  }
};

template <>
struct std::hash<ares::AttemptKey> {
  std::size_t operator()(const ares::AttemptKey& key) const noexcept {
    return std::hash<ares::JobKey>{}(key.job) * 31 + key.attempt.value();
  }
};
