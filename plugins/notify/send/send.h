// Sends one message by libcurl, and waits for the server's answer. Certificates are always verified, redirections are not followed, and
// no setting of the environment or of a user's files counts.
#pragma once

#include <chrono>

#include "notify/message/message.h"

namespace ares::notify {

// For all of a transfer; less than aresctld waits for ares-notify. Some mail servers look at a mail for long before they take it.
inline constexpr std::chrono::seconds kLongestRequest{25};
inline constexpr std::chrono::seconds kLongestMail{140};

// Reads the files that the message names. Blocks. Once in a process, which ends after it: the connection stays open.
Outcome send(const Message& message);

}  // namespace ares::notify
