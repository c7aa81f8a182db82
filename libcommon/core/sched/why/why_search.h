// WhySearch: looks for changes of one job that would let it start at its turns. Owned by one explanation; not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/sched/why/why.h"
#include "core/sched/why/why_alternatives.h"
#include "core/sched/why/why_trial.h"

namespace ares::core::sched {

class WhySearch {
 public:
  // They must outlive it. `freed`: the job with what keeps it from being looked at taken away, which is part of every change.
  WhySearch(Trial& trial, const Freed& freed, const std::vector<DelayedStart>& planned_starts,
            Time now)
      : trial_(trial), freed_(freed), planned_starts_(planned_starts), now_(now) {}

  // At a turn in one of the job's own partitions: true if nothing but what was taken away stands in its way.
  bool look(const Turn& turn);
  // In another one.
  void look_elsewhere(const Turn& turn);

  // What was found, smallest of each kind; to be checked.
  std::vector<WhyChange> take() { return std::move(singles_.empty() ? pairs_ : singles_); }

 private:
  struct Step {
    const Alternative* alternative = nullptr;
    std::uint64_t step = 0;
  };

  // The smallest step with which the job starts.
  std::optional<std::uint64_t> smallest(const Turn& turn, const Job& job,
                                        const Alternative& alternative);
  void look_at_pairs(const Turn& turn, const std::vector<Alternative>& kinds);
  WhyChange change(Job job, std::string text) const;
  std::string note(const Turn& turn, const Alternative& alternative, const Job& job) const;
  void keep(std::vector<WhyChange>& list, WhyChange found);

  Trial& trial_;
  const Freed& freed_;
  const std::vector<DelayedStart>& planned_starts_;
  const Time now_;
  std::vector<WhyChange> singles_, pairs_;
};

}  // namespace ares::core::sched
