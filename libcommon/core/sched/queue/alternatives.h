// Of a job whose GPUs may be had in several ways (model/job/gpu_alternatives.h): which of them it gets now, which one it waits for.
// To the search it is as many jobs, each of a Shape that is shared with jobs that ask for that alone. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/sched/queue/job_classes.h"
#include "core/sched/time/backfill.h"
#include "model/job/gpu_alternatives.h"

namespace ares::core::sched {

// Positions, cheapest first; of equal cost in the user's order. Of those that can start at the same time the first of these is taken.
std::vector<std::size_t> by_cost(const JobSpec& spec);

// What becomes of the job at its turn.
struct AlternativeChoice {
  std::optional<std::size_t> now;  // the alternative that could start
  std::optional<std::pair<std::size_t, Time>>
      later;  // a cheaper one that is worth waiting for instead
  bool starts() const { return now && !later; }
};

// fits_now(i): whether one could start now. when(i): its earliest start, if there is any. A job with a deadline waits for nothing.
template <class FitsNow, class When>
AlternativeChoice choose_alternative(const JobSpec& spec, Time now, std::optional<Seconds> limit,
                                     FitsNow&& fits_now, When&& when) {
  AlternativeChoice out;
  const std::vector<std::size_t> order = by_cost(spec);
  for (const std::size_t i : order)
    if (fits_now(i)) {
      out.now = i;
      break;
    }
  if (!out.now || spec.deadline) return out;
  const CostlyStart start{now, spec.gpu_alternatives[*out.now].cost};
  for (const std::size_t i : order) {
    const std::uint32_t cost = spec.gpu_alternatives[i].cost;
    if (cost >= start.cost) break;
    const auto found = when(i);
    if (!found || !counts_less({found->at, cost}, start, limit)) continue;
    out.later.emplace(i, found->at);
    break;
  }
  return out;
}

// The start that counts least of all that a job may wait for, and the shape that starts so; of a job without alternatives its only one.
// when(shape) is the earliest start of one.
template <class When>
std::optional<EarliestStart> earliest_alternative(JobClass*& job_class,
                                                  std::optional<Seconds> limit, When&& when) {
  if (job_class->alternatives.empty()) return when(*job_class);
  const JobSpec& spec = *job_class->example.spec;
  std::optional<EarliestStart> best;
  std::size_t chosen = 0;
  const JobClass& all = *job_class;
  for (std::size_t i = 0; i < all.alternatives.size(); ++i) {
    auto found = when(*all.alternatives[i]);
    if (!found || (best && !counts_less({found->at, spec.gpu_alternatives[i].cost},
                                        {best->at, spec.gpu_alternatives[chosen].cost}, limit)))
      continue;
    best = std::move(found);
    chosen = i;
    job_class = all.alternatives[i];
  }
  return best;
}

}  // namespace ares::core::sched
