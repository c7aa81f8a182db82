// Applies the row images of a batch to a state in memory, as a database does with its tables.
// Used by MemJournal and by tests; pure.
#pragma once

#include "model/engine/state.h"
#include "store/journal/journal.h"

namespace ares::store {

// Applies records, counters and lsn, but not the epoch, which open() takes, nor the indexes: call
// rebuild_indexes() before the state is used.
void apply_images(const Batch& batch, ClusterState& state);

// Applies only the evictions.
void put_evictions(const Batch& batch, ClusterState& state);

}  // namespace ares::store
