// ChangeSearch: searches, when the pass reaches the job, for changes that would let the job start.
// Owned by one explanation; not thread-safe.
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
  // All arguments must outlive the object. `unblocked`: the job without the conditions that keep it
  // from being considered; removing these is part of every change.
  ChangeSearch(WhatIf& what_if, const UnblockedJob& unblocked,
               const std::vector<DelayedStart>& planned_starts, Time now)
      : what_if_(what_if), unblocked_(unblocked), planned_starts_(planned_starts), now_(now) {}

  // Called when the pass reaches the job in one of its own partitions. Returns true if only the
  // removed conditions keep it from starting.
  bool search(const PassView& view);
  // The same for another partition.
  void search_partition(const PassView& view);

  // The changes that were found, the smallest of each kind. The caller must check them.
  std::vector<SuggestedChange> take() { return std::move(singles_.empty() ? pairs_ : singles_); }

 private:
  struct Step {
    const ChangeKind* kind = nullptr;
    std::uint64_t step = 0;
  };

  // The smallest step of the kind with which the job starts.
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
