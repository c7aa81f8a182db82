// Sends one message by libcurl, and waits for the server's answer. Certificates are always verified, redirections are not followed, and
// no setting of the environment or of a user's files counts.
#pragma once

#include <chrono>

#include "notify/message/message.h"

namespace ares::notify {

// For all of a transfer; less than aresctld waits for ares-notify.
inline constexpr std::chrono::seconds kLongestTransfer{25};

// Reads the files that the message names. Blocks; one thread of a process at a time.
Outcome send(const Message& message);

}  // namespace ares::notify
