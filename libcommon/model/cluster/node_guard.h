// What the controller itself has noted about a node: launches that failed there, a fault that the node
// reports, a reboot that was requested. Parts of Node; values. Any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ares {

// Whether a failed launch counts against the node (core/cluster/launch_guard). Stored as its number:
// append only.
enum class LaunchBlame : std::uint8_t {
  none,     // the job's fault, or the node was silent, restarted or set down
  refused,  // the node reported that it could not launch
  late,     // the node did not answer in time; counted at most once in the time for preparing
};
inline constexpr LaunchBlame kLastLaunchBlame = LaunchBlame::late;

struct NodeGuard {
  std::vector<Time> failures{};  // of launches, by the node's fault, within the window; ascending
  std::string reason{};          // why it is set aside for them; empty: it is not
  std::uint32_t rounds = 0;      // how many times in a row the node was set aside for them
  // Set aside for them until then. None: it is not.
  std::optional<Time> retry_at{};
  // Back in service on trial: it gets one attempt at a time until one has started.
  bool on_trial = false;
  std::string fault{};  // reported by the node; empty = none
  // What a prolog or an epilog that failed may have left there, until an operator resumes it.
  std::string problem{};

  friend bool operator==(const NodeGuard&, const NodeGuard&) = default;
};

// What becomes of a node after its reboot. Stored as its number: append only.
enum class AfterReboot : std::uint8_t { as_before, up, down };
inline constexpr AfterReboot kLastAfterReboot = AfterReboot::down;

struct NodeReboot {
  Time requested_at{};
  std::optional<UserId> by;
  std::string reason;
  bool asap = false;  // no job starts there before the reboot
  AfterReboot after = AfterReboot::as_before;
  std::optional<Time> issued_at{};  // when the node was told to
  std::uint64_t incarnation = 0;    // of the node then: a later one has rebooted

  friend bool operator==(const NodeReboot&, const NodeReboot&) = default;
};

}  // namespace ares
