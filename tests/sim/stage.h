// Stage: shared by all actors of a simulation: random numbers, time, the trace, the boundaries at
// which processes die, and the observer that checks invariants. Owned by the World; one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "sim/crash.h"
#include "sim/timeline.h"
#include "sim/trace.h"

namespace ares::sim {

class Observer;

// Planted bugs, each in a thin wrapper of the simulation, to show that the simulation finds them.
enum class Mutant : std::uint8_t {
  none,
  reply_before_commit,
  forgotten_fsync,       // of the exit record
  missing_fence,         // the Kill for a fenced attempt is not sent
  lost_outbox_entry,     // an effect is dropped and never sent again
  lease_from_receipt,    // from the reply to a heartbeat instead of from its sending
  early_finish,          // a supervisor says that it has finished before its record is on the disk
  idle_acknowledgement,  // output that needs no commit is released without a check of the epoch
  lost_launch,           // aresd does not learn that the fork server died with its request
};
inline constexpr Mutant kMutants[] = {Mutant::reply_before_commit,  Mutant::forgotten_fsync,
                                      Mutant::missing_fence,        Mutant::lost_outbox_entry,
                                      Mutant::lease_from_receipt,   Mutant::early_finish,
                                      Mutant::idle_acknowledgement, Mutant::lost_launch};
std::string name_of(Mutant mutant);

struct Stage {
  Stage(std::uint64_t seed, bool verbose, Mutant planted)
      : random(seed), trace(verbose), mutant(planted) {}

  Random random;
  Timeline timeline;
  Trace trace;
  Boundaries boundaries;
  Mutant mutant;
  Observer* observer = nullptr;  // set before the first event

  Instant now() const { return timeline.now(); }
  void note(std::string_view what, std::uint64_t a = 0, std::uint64_t b = 0) {
    trace.note(now(), what, a, b);
  }
  template <class Text>
  void note(std::string_view what, std::uint64_t a, std::uint64_t b, Text&& text) {
    trace.note(now(), what, a, b, text);
  }
  // A short random delay.
  Duration soon() { return random.between(50us, 3ms); }
};

}  // namespace ares::sim
