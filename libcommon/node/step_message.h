// Commands from aresd to a supervisor and its notices back: one text packet each on a Unix socket,
// or a value in a simulation. Plain data; any thread. Every command may arrive twice, or from a
// restarted aresd; a notice is only a hint to read the records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/engine/node_message.h"

namespace ares::node {

struct StepGo {
  Fence fence;
  std::optional<BootTime>
      lease_until;  // for leased attempts: the gate opens only while the lease is live
};
struct StepKill {
  Fence fence;
  bool immediately = false;
  std::optional<Seconds> grace{};  // overrides kill_wait
};
struct StepSignal {
  Fence fence;
  Lsn lsn;
  std::int32_t signal = 0;
  bool batch_only = false;
};
struct StepSetLimit {
  Fence fence;
  Lsn lsn;
  std::optional<Seconds> time_limit;
};
struct StepSetSuspended {
  Fence fence;
  Lsn lsn;
  bool suspended = false;
  Seconds grace{};
};
struct StepRenewLease {
  BootTime until{};
};
struct StepCheckpointKnown {
  Fence fence;
  std::uint64_t sequence = 0;  // the attempt's checkpoints up to this one are committed
};
// A supervisor may be of an earlier release than the aresd that was started after it, and the other way
// round. A packet without a version is from release 0.1.0, which is version 1. One of a later version is
// refused; what only adds commands or keys needs no new version.
inline constexpr std::uint32_t kStepVersion = 1;

using StepCommand = std::variant<StepGo, StepKill, StepSignal, StepSetLimit, StepRenewLease,
                                 StepSetSuspended, StepCheckpointKnown>;

enum class StepNotice : std::uint8_t { ready, running, finished };

std::string encode(const StepCommand& command);
Result<StepCommand> decode_step_command(std::string_view packet);
std::string_view to_string(StepNotice notice);
std::optional<StepNotice> parse_step_notice(std::string_view packet);

}  // namespace ares::node
