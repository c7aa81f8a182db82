// JobClasses: jobs of identical demand in a partition are one class. What cannot be placed once is not searched for again in
// the same pass; which nodes it may use at all is kept from pass to pass. Owned by a Planner; not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/sched/queue/job_class.h"
#include "core/sched/queue/queue_entry.h"

namespace ares::core::sched {

class JobClasses {
 public:
  // Before each pass: forgets what the last one learnt and, when there are very many, shapes that nobody has asked for lately.
  // True if shapes were dropped: pointers to them are no good any more.
  bool begin_pass();

  // Valid until the table drops it. Precondition: the entry has a partition.
  // Costs no work units: what is kept from earlier passes must not let this one go further than a first pass would.
  JobClass& of(const QueueEntry& entry, ClusterIndex& index, bool relaxed = false);
  // The same for one found in an earlier pass.
  JobClass& refresh(JobClass& job_class, ClusterIndex& index);

  // Null if the shape fits on the usable nodes when they are empty; else why not, on request with numbers.
  PendingPtr impossible(JobClass& job_class, const ClusterIndex& index, bool details);

  std::uint64_t pass() const { return pass_; }

  void clear();

 private:
  // What filter() looks at.
  using FilterKey =
      std::tuple<const Partition*, std::vector<std::string>, std::vector<std::string>,
                 std::vector<std::string>, std::vector<std::string>, std::vector<NodeId>>;
  const Candidates& candidates_of(const JobClass& job_class, ClusterIndex& index);
  void add_alternatives(JobClass& job_class, const QueueEntry& entry, ClusterIndex& index);
  PendingPtr none_possible(JobClass& job_class, const ClusterIndex& index, bool details);

  std::deque<JobClass> job_classes_;
  std::map<FilterKey, Candidates> candidates_;
  std::uint64_t generation_ = 0;  // of the index that these are of
  std::unordered_map<std::size_t, std::vector<JobClass*>> by_hash_;
  std::uint64_t pass_ = 0;
};

}  // namespace ares::core::sched
