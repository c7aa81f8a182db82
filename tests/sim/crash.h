// Crash: where processes die. A boundary is any point at which a kill has a visible effect. An
// armed boundary throws Killed through the production code up to the loop, which then removes the
// process: what it had not written or sent never happens. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "sim/timeline.h"

namespace ares::sim {

enum class Actor : std::uint8_t { controller, aresd, stepd, power, database, fork_server };
inline constexpr std::size_t kActors = 6;
constexpr const char* name_of(Actor actor) {
  constexpr std::array<const char*, kActors> names{"controller", "aresd",    "aresstepd",
                                                   "power",      "database", "fork_server"};
  return names[static_cast<std::size_t>(actor)];
}

struct Killed {
  Life process;
};
struct PowerLost {
  std::uint32_t machine = 0;
};
// An invariant is violated.
struct Violation {
  std::string what;
};

class Boundaries {
 public:
  static constexpr std::uint32_t kNoMachine = ~0u;

  // Kills at the nth boundary of the actor from now.
  void arm(Actor actor, std::uint64_t nth) { left_[index(actor)] = nth; }
  // The power fails at the nth boundary after the next exit record is written.
  void arm_after_exit(std::uint64_t nth) { after_exit_ = nth; }
  void exit_written() {
    if (after_exit_ != 0) arm(Actor::power, std::exchange(after_exit_, 0));
  }
  void disarm() { left_.fill(0), after_exit_ = 0; }
  std::uint64_t passed(Actor actor) const { return passed_[index(actor)]; }

  // A process of `actor` on `machine` (kNoMachine for the controller) is at a boundary.
  void at(Actor actor, Life process, std::uint32_t machine) {
    if (machine != kNoMachine && reached(Actor::power)) throw PowerLost{machine};
    if (reached(actor)) throw Killed{process};
  }
  // Counts without throwing: the caller acts if it returns true.
  bool reached(Actor actor) {
    ++passed_[index(actor)];
    std::uint64_t& left = left_[index(actor)];
    return left != 0 && --left == 0;
  }

 private:
  static std::size_t index(Actor actor) { return static_cast<std::size_t>(actor); }
  std::array<std::uint64_t, kActors> left_{};
  std::array<std::uint64_t, kActors> passed_{};
  std::uint64_t after_exit_ = 0;
};

}  // namespace ares::sim
