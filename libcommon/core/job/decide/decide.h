// decide(): what a command means in a given state. Pure: reads, never changes; every outcome is events, a reply, or both.
// Called by the engine only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/job/apply/wakes.h"
#include "model/engine/command.h"
#include "model/engine/effect.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

class HoldingSums;

// Requests of one user that may be remembered at a time, and about what they may take in memory. Then submissions are refused,
// and other commands a tenth later, so that jobs can still be cancelled. Operators are not bounded.
inline constexpr RequestLoad kMostRemembered{.count = 1'000'000, .bytes = std::uint64_t{512} << 20};

struct Decision {
  std::vector<EventBody>
      events;  // applied in order; what follows from them by itself comes from follow()
  Error error;
  bool failed = false;       // the caller is told `error`; events may still hold an audit row
  bool repeated = false;     // what a command was answered that was carried out before
  std::vector<JobKey> jobs;  // acted on; none where all was already as asked
  std::string text;
  Effects
      effects;  // owed without a change of state (an answer to a heartbeat); those of events come from effects()
  std::optional<NodeId>
      reconcile;  // this node listed what it has: everything owed to it goes out again
};

// `now` is not before state.now. Fences and lsn are given by the engine as it applies.
//
// User commands. The same request id, user and digest get the first reply again; another digest is refused (already_exists). A
// command that was carried out is recorded together with what it did; a refusal changed nothing, so it is not recorded and a
// retry is judged anew. Accepted commands, and those refused for want of permission, leave an Audited event.
// Node commands that fail (unknown node, stale incarnation, two nodes of one name, not registered) are answered with Refused on
// the session they came from, which is then closed: give them a ticket.
// `sums`: remembered by the caller from command to command, so that what jobs come to together is not counted anew; null: it is.
Decision decide(const ClusterState& state, const Policy& policy, const Command& command, Time now,
                HoldingSums* sums = nullptr);

// What follows from an event that was just applied, without anybody asking: Started when all nodes are ready, the end when all have
// let go, the end of an array, and who is to be told of it. `state` may already hold later events; what follows is judged by it.
struct Consequences {
  std::vector<EventBody> events;  // at once: a few
  std::vector<Wake> wakes;        // a part at a time: any number may wait
};
Consequences follow(const ClusterState& state, const Policy& policy, const EventBody& event,
                    Time now);

}  // namespace ares::core
