// How a program outside of a job reaches the step host of the job's first node: with a ticket, which the
// controller gives to the job's user or an operator. The key of the ticket comes from the key of the
// attempt, so the node daemon checks it by itself. The key of the ticket is never sent to the node: the
// caller proves that it knows it. Pure functions; any thread.
//
//   node daemon -> caller:  ares-steps 1 NONCE
//   caller -> node daemon:  client ATTEMPT FENCE CALLER EXPIRES NONCE PROOF
//   node daemon -> caller:  ok PROOF             or:  no REASON
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace ares::steps {

struct Ticket {
  std::string attempt;  // name of its directory
  Fence fence;
  UserId caller;
  std::chrono::sys_seconds expires{};
};

// Bound to all that the ticket says.
std::string ticket_key(const Ticket& ticket, std::string_view attempt_key);

struct ClientCall {
  Ticket ticket;
  std::string nonce;  // of the caller
  std::string proof;
};

bool is_client_call(std::string_view line);

// `theirs` is the nonce of the greeting; `key` that of the ticket.
std::string call_line(ClientCall call, std::string_view theirs, std::string_view key);
Result<ClientCall> read_call(std::string_view line);
// unauthenticated: the caller does not know the key of the ticket. stale: the ticket has expired. `ours` is
// the nonce of the greeting.
Status verify_call(const ClientCall& call, std::string_view ours, std::string_view attempt_key,
                   Time now);

std::string answer_line(const ClientCall& call, std::string_view ours,
                        std::string_view attempt_key);
// An error if the node daemon refuses, with its reason, or does not know the key.
Status read_answer(std::string_view line, const ClientCall& call, std::string_view theirs,
                   std::string_view key);

}  // namespace ares::steps
