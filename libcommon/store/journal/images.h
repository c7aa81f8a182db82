// Puts the row images of a batch into a state: what a database does with them, in memory.
// Used by MemJournal and by tests; pure.
#pragma once

#include "model/engine/state.h"
#include "store/journal/journal.h"

namespace ares::store {

// Records, counters and lsn; not the epoch, which open() takes, and not the indexes: call
// rebuild_indexes() before the state is used.
void apply_images(const Batch& batch, ClusterState& state);

// The part of it that is about evictions.
void put_evictions(const Batch& batch, ClusterState& state);

}  // namespace ares::store
