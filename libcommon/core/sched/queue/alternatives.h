// Choice among the alternative GPUs of a job (model/job/gpu_alternatives.h): the one that starts
// now, or the one that the job waits for. For the search each alternative is a job of its own, in
// the same JobClass as jobs that request only that alternative. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/sched/queue/job_classes.h"
#include "core/sched/time/backfill.h"
#include "model/job/gpu_alternatives.h"

namespace ares::core::sched {

// Positions of the alternatives, cheapest first; equal costs in the user's order. Of alternatives
// that can start at the same time, the first one is taken.
std::vector<std::size_t> by_cost(const JobSpec& spec);

// The decision for a job that is being considered.
struct AlternativeChoice {
  std::optional<std::size_t> now;  // the alternative that could start
  // A cheaper alternative that is worth waiting for instead, with its earliest start.
  std::optional<std::pair<std::size_t, Time>> later;
  bool starts() const { return now && !later; }
};

// fits_now(i): whether alternative i could start now. when(i): its earliest start, if there is one.
// A job with a deadline does not wait for another alternative.
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

// The earliest start of the alternative with the best combination of start time and cost; sets
// `job_class` to the class of that alternative. For a job without alternatives the earliest start
// of its only class. when(job_class) returns the earliest start of one class.
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
