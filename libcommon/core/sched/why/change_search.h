// ChangeSearch: looks for changes of one job that would let it start at its turns. Owned by one explanation; not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/sched/why/change_kinds.h"
#include "core/sched/why/explanation.h"
#include "core/sched/why/what_if.h"

namespace ares::core::sched {

class ChangeSearch {
 public:
  // They must outlive it. `freed`: the job with what keeps it from being looked at taken away, which is part of every change.
  ChangeSearch(WhatIf& what_if, const UnblockedJob& unblocked,
               const std::vector<DelayedStart>& planned_starts, Time now)
      : what_if_(what_if), unblocked_(unblocked), planned_starts_(planned_starts), now_(now) {}

  // At a turn in one of the job's own partitions: true if nothing but what was taken away stands in its way.
  bool search(const PassView& view);
  // In another one.
  void search_partition(const PassView& view);

  // What was found, smallest of each kind; to be checked.
  std::vector<SuggestedChange> take() { return std::move(singles_.empty() ? pairs_ : singles_); }

 private:
  struct Step {
    const ChangeKind* kind = nullptr;
    std::uint64_t step = 0;
  };

  // The smallest step with which the job starts.
  std::optional<std::uint64_t> smallest(const PassView& view, const Job& job,
                                        const ChangeKind& kind);
  void search_pairs(const PassView& view, const std::vector<ChangeKind>& kinds);
  SuggestedChange change(Job job, std::string text) const;
  std::string note(const PassView& view, const ChangeKind& kind, const Job& job) const;
  void keep(std::vector<SuggestedChange>& list, SuggestedChange found);

  WhatIf& what_if_;
  const UnblockedJob& unblocked_;
  const std::vector<DelayedStart>& planned_starts_;
  const Time now_;
  std::vector<SuggestedChange> singles_, pairs_;
};

}  // namespace ares::core::sched
