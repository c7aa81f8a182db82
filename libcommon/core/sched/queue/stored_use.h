// StoredUse: what the records of accounting say that their associations and accounts have used, in flat rows. All of it is looked at
// whenever ranks are made anew, so it lies as it is walked, kept from pass to pass by what changed. Part of a Ranking; not
// thread-safe.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/accounts/usage/usage.h"
#include "core/fairness/tree.h"

namespace ares::core::sched {

class StoredUse {
 public:
  using AssociationNode = std::pair<AssociationId, fairness::TreeIndex>;

  // `whose`: ascending.
  void fill(const ClusterState& state, const std::vector<AssociationNode>& association_nodes);

  // From what it was for `before`; whose is whose is the same. True: what counts as of `moment` is not what it was. Most charges
  // count from the next moment on, so that they do not change it; a reset does, what is set right, and what counts at once.
  bool update(const ClusterState& before, const ClusterState& after, Time moment,
              Seconds half_life);

  // Whether anybody's use was reset by itself.
  bool any_reset() const { return resets_ > 0; }

  // Adds to each node of the tree what its own is billed and worth at that moment: usage_at(), bit for bit. `since`: what ended
  // before counts for nobody.
  void add_to(std::span<fairness::Amount> by_node, Time moment, Time since,
              Seconds half_life) const;

 private:
  struct Row {
    AssociationId id;
    fairness::TreeIndex at = 0;
    Time since{};
    UsageParts parts;
  };
  void put(Row& row, const AssociationUsage* usage);

  std::vector<Row> rows_;  // by id
  std::size_t resets_ = 0;
};

}  // namespace ares::core::sched
