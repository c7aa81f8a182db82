// Many schedules one after another, as the environment asks for. ARES_SIM_SEED: first seed; ARES_SIM_SCHEDULES: how many;
// ARES_SIM_FAILURES: failures until it stops. Used by one test at a time.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "sim/world.h"

namespace ares::sim {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// In a build with sanitizers, with optimisation, in another one.
inline constexpr std::uint64_t schedules_of_build(std::uint64_t sanitized, std::uint64_t optimised,
                                                  std::uint64_t other) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (void)optimised, (void)other, sanitized;
#elif defined(__OPTIMIZE__)
  return (void)sanitized, (void)other, optimised;
#else
  return (void)sanitized, (void)optimised, other;
#endif
}

struct Totals {
  std::uint64_t first = 0, schedules = 0;
  std::uint64_t steps = 0, jobs = 0, starts = 0, freezes = 0, checks = 0, refusals = 0,
                given_up = 0;
};

// Fails the test for each violation. `options.seed` is set here.
inline Totals run_schedules(Options options, std::uint64_t first, std::uint64_t count) {
  Totals totals;
  totals.first = from_environment("ARES_SIM_SEED", first);
  totals.schedules = from_environment("ARES_SIM_SCHEDULES", count);
  std::uint64_t failed = 0;
  for (std::uint64_t i = 0; i < totals.schedules; ++i) {
    options.seed = totals.first + i;
    const Outcome outcome = run(options);
    totals.steps += outcome.steps, totals.jobs += outcome.jobs;
    totals.starts += outcome.user_starts, totals.freezes += outcome.freezes;
    totals.checks += outcome.stopped_by_check, totals.refusals += outcome.refusals;
    totals.given_up += outcome.given_up;
    if (!outcome.violation) continue;
    ADD_FAILURE() << report(options, outcome);
    if (++failed == from_environment("ARES_SIM_FAILURES", 1)) break;
  }
  return totals;
}

}  // namespace ares::sim
