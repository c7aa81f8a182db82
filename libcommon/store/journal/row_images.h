// From a batch of events to the rows that hold what they changed.
// Pure; called by the controller's engine thread and by the simulator just before a batch goes to
// the journal.
#pragma once

#include <memory>
#include <vector>

#include "model/engine/command.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "store/journal/journal.h"

namespace ares::store {

// `after` is the state right after the last event. Records are read from it and shared, never
// computed; what the batch does not name is not written. `events` is not empty.
Batch make_batch(std::vector<std::shared_ptr<const Event>> events, const ClusterState& after,
                 std::vector<Attempt> attempts, std::vector<Blob> blobs);

}  // namespace ares::store
