// StoredUse: the stored usage of associations and accounts, from the accounting records, in flat
// rows. All rows are read whenever ranks are computed, so they are stored in the order of access.
// Kept from pass to pass and updated with changes. Part of a Ranking; not thread-safe.
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

  // `association_nodes`: ascending.
  void fill(const ClusterState& state, const std::vector<AssociationNode>& association_nodes);

  // Updates from `before` to `after`; the association nodes must be the same. Returns whether what
  // counts as of `moment` changed. Most charges count from the next moment on and change nothing. A
  // reset, a correction, and a charge that counts at once change it.
  bool update(const ClusterState& before, const ClusterState& after, Time moment,
              Seconds half_life);

  // Whether any usage was reset separately.
  bool any_reset() const { return resets_ > 0; }

  // Adds to each tree node the billed and weighted usage of its own associations at that moment,
  // bit for bit as usage_at(). `since`: usage that ended before it does not count.
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
