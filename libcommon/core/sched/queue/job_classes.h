// JobClasses: the table of job classes. Jobs of identical demand in one partition form a class. A
// class that cannot be placed is not searched again in the same pass; the nodes that it may use are
// kept from pass to pass. Owned by a Planner; not thread-safe.
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
  // Called before each pass. Forgets the results of the last pass and, if there are very many
  // classes, drops classes that were not used lately. Returns true if classes were dropped;
  // pointers to classes are then invalid.
  bool begin_pass();

  // Valid until the table drops the class. Precondition: the entry has a partition. Costs no work
  // units, so that results kept from earlier passes do not let a pass get further than a first pass
  // would.
  JobClass& of(const QueueEntry& entry, ClusterIndex& index, bool relaxed = false);
  // The same for a class found in an earlier pass.
  JobClass& refresh(JobClass& job_class, ClusterIndex& index);

  // Null if the class fits on the usable nodes when they are empty; otherwise the reason, with
  // numbers if `details`.
  PendingPtr impossible(JobClass& job_class, const ClusterIndex& index, bool details);

  std::uint64_t pass() const { return pass_; }

  void clear();

 private:
  // The inputs of filter(); last the job that nodes are kept for, and whether it is kept off containers.
  using FilterKey = std::tuple<const Partition*, std::vector<std::string>, std::vector<std::string>,
                               std::vector<std::string>, std::vector<std::string>,
                               std::vector<NodeId>, std::optional<JobKey>, bool>;
  const Candidates& candidates_of(const JobClass& job_class, ClusterIndex& index);
  void add_alternatives(JobClass& job_class, const QueueEntry& entry, ClusterIndex& index);
  PendingPtr none_possible(JobClass& job_class, const ClusterIndex& index, bool details);

  std::deque<JobClass> job_classes_;
  std::map<FilterKey, Candidates> candidates_;
  std::uint64_t generation_ = 0;  // of the index for which these were computed
  std::unordered_map<std::size_t, JobClass*> by_hash_;  // the last one made of each hash
  std::uint64_t pass_ = 0;
};

}  // namespace ares::core::sched
