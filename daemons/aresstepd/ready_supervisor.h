// What a process does that the fork server has forked: it supervises an attempt. Each function is
// called in such a process and does not return.
#pragma once

#include <string_view>

#include "node/launch_packet.h"
#include "os/fd.h"
#include "os/namespace.h"
#include "os/ready_groups.h"

namespace ares::stepd {

// Sent to the server by a supervisor that waits for an attempt. Any other text says why it could not
// make the processes and groups of the attempt ahead; it makes them at the launch then.
inline constexpr std::string_view kReady = "ready";

// Makes the first process of an attempt in its namespace and control groups, waits for the attempt on
// the socket to the server, and supervises it. Ends if the server ends first.
[[noreturn]] void wait_for_attempt(os::Fd server, const os::ReadyGroups& groups, os::Ipc ipc);

[[noreturn]] void supervise_now(const node::LaunchRequest& request, os::Fd channel, os::Ipc ipc);

}  // namespace ares::stepd
