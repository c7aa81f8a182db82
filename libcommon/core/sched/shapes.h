// Shapes: jobs of identical demand are one class. What cannot be placed once is not searched for
// again in the same pass. Owned by one pass; not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/sched/backfill.h"
#include "core/sched/demand.h"
#include "core/sched/filter.h"
#include "core/sched/order.h"
#include "model/plan.h"

namespace ares::core::sched {

struct Shape {
  const Job* example = nullptr;
  const Partition* partition = nullptr;
  Demand demand;
  Candidates candidates;
  bool all_required_usable = true;

  // What the pass has learnt. Free amounts only shrink within a pass, so "no" stays "no".
  bool blocked = false;                   // not enough free for any time limit
  bool blocked_by_promise = false;        // enough free, but not for jobs as long as:
  std::optional<Seconds> blocked_limit;   // (nullopt = without limit)
  std::optional<bool> possible;           // on the usable nodes, were they empty
  std::optional<PendingInfo> impossible;  // why not, when not possible
  std::string detail;                     // of those that wait, once asked for

  NodeSet nodes() const;
  bool known_blocked(std::optional<Seconds> limit) const;
  void note_promise(std::optional<Seconds> limit);

 private:
  friend class Shapes;
  bool use_fallback_ = false;
};

class Shapes {
 public:
  explicit Shapes(ClusterIndex& index) : index_(index) {}

  // Valid until the table goes. Precondition: the entry has a partition.
  Shape& of(const QueueEntry& entry, Work& work);

  // Whether the shape fits on the usable nodes at all; if not, shape.impossible says why.
  bool possible(Shape& shape, Work& work);

 private:
  ClusterIndex& index_;
  std::deque<Shape> shapes_;
  std::unordered_map<std::size_t, std::vector<Shape*>> by_hash_;
};

}  // namespace ares::core::sched
