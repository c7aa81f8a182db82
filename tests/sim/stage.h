// Stage: what every actor of a simulation shares: chance, time, the trace, the boundaries at which
// processes die, and the observer that knows what must never happen. Owned by the World; one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "sim/crash.h"
#include "sim/timeline.h"
#include "sim/trace.h"

namespace ares::sim {

class Observer;

// Bugs planted on purpose, each in a thin wrapper of the simulation, to show that it finds them.
enum class Mutant : std::uint8_t {
  none,
  reply_before_commit,
  forgotten_fsync,       // of the exit record
  missing_fence,         // what was fenced is not refused: the node is never told to kill it
  lost_outbox_entry,     // an effect is dropped and reconciliation sends nothing
  lease_from_receipt,    // of the heartbeat's answer instead of from its sending
  idle_acknowledgement,  // what needs no commit leaves without a look whether another took over
};
inline constexpr Mutant kMutants[] = {Mutant::reply_before_commit, Mutant::forgotten_fsync,
                                      Mutant::missing_fence,       Mutant::lost_outbox_entry,
                                      Mutant::lease_from_receipt,  Mutant::idle_acknowledgement};
std::string name_of(Mutant mutant);

struct Stage {
  Stage(std::uint64_t seed, bool verbose, Mutant planted)
      : random(seed), trace(verbose), mutant(planted) {}

  Random random;
  Timeline timeline;
  Trace trace;
  Boundaries boundaries;
  Mutant mutant;
  Observer* observer = nullptr;  // set before anything runs

  Instant now() const { return timeline.now(); }
  void note(std::string_view what, std::uint64_t a = 0, std::uint64_t b = 0) {
    trace.note(now(), what, a, b);
  }
  template <class Text>
  void note(std::string_view what, std::uint64_t a, std::uint64_t b, Text&& text) {
    trace.note(now(), what, a, b, text);
  }
  // Times at which nothing particular happens.
  Duration soon() { return random.between(50us, 3ms); }
};

}  // namespace ares::sim
