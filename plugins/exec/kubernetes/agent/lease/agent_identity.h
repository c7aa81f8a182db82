// Who an agent is, as the holder of a lease is named: a process of one boot of one machine, so that no other process ever has the name.
// Values; this_agent() and has_ended() look at processes of this machine. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::kubernetes {

struct AgentIdentity {
  std::string host;  // for people only: machines may share a name, as they may share a machine id
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // in ticks since the boot
  std::uint64_t pid_space =
      0;  // of the pid namespace in which the pid counts; containers have their own
  std::string boot_id;

  friend bool operator==(const AgentIdentity&, const AgentIdentity&) = default;
};

// "HOST_PID_STARTED_PIDSPACE_BOOT".
std::string encode(const AgentIdentity& identity);
std::optional<AgentIdentity> parse_identity(std::string_view text);

// For messages: "n7 (process 1234)", or the text itself if it is not an agent's.
std::string describe_holder(std::string_view holder);

Result<AgentIdentity> this_agent();

// Whether the process has certainly ended: it was one of this boot and pid namespace, and is not there. Of others nothing is known.
bool has_ended(const AgentIdentity& process, const AgentIdentity& self);

}  // namespace ares::kubernetes
