// decide(): the outcome of a command in a given state: events, a reply, or both. Changes nothing.
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

// Bounds on the remembered requests of one user: number and approximate bytes. Submissions beyond
// are refused, other commands 10 % later, so that jobs can still be cancelled. Not for operators.
inline constexpr RequestLoad kMostRemembered{.count = 1'000'000, .bytes = std::uint64_t{512} << 20};

// `now` is not before state.now. The engine assigns fences and lsn when it applies the events. User
// commands: the same request id, user and digest get the first reply again; another digest is
// refused (already_exists). A command that was carried out is recorded with its outcome. A refusal
// changes nothing and is not recorded, so a retry is decided anew. Accepted commands, and those
// refused with permission_denied, leave an Audited event. Node commands that fail (unknown node,
// stale incarnation, duplicate node name, not registered) are answered with Refused on the session
// they came from, which is then closed, so they need a ticket. `sums`: totals of the jobs that the
// caller keeps from command to command; null: they are counted anew.
Decision decide(const ClusterState& state, const Policy& policy, const Command& command, Time now,
                UsageTotals* sums = nullptr);

}  // namespace ares::core
