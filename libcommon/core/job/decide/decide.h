// decide(): what a command means in a given state. Pure: reads, never changes; every outcome is events, a reply, or both.
// Called by the engine only.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "core/job/decide/decision.h"
#include "model/engine/command.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

class UsageTotals;

// Requests of one user that may be remembered at a time, and about what they may take in memory. Then submissions are refused,
// and other commands a tenth later, so that jobs can still be cancelled. Operators are not bounded.
inline constexpr RequestLoad kMostRemembered{.count = 1'000'000, .bytes = std::uint64_t{512} << 20};

// `now` is not before state.now. Fences and lsn are given by the engine as it applies.
//
// User commands. The same request id, user and digest get the first reply again; another digest is refused (already_exists). A
// command that was carried out is recorded together with what it did; a refusal changed nothing, so it is not recorded and a
// retry is judged anew. Accepted commands, and those refused for want of permission, leave an Audited event.
// Node commands that fail (unknown node, stale incarnation, two nodes of one name, not registered) are answered with Refused on
// the session they came from, which is then closed: give them a ticket.
// `sums`: remembered by the caller from command to command, so that what jobs come to together is not counted anew; null: it is.
Decision decide(const ClusterState& state, const Policy& policy, const Command& command, Time now,
                UsageTotals* sums = nullptr);

}  // namespace ares::core
