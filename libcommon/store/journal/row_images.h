// Creates the batch for events: images of the records that they changed.
// Pure; called by the controller's engine thread and by the simulator before the batch goes to
// the journal.
#pragma once

#include <memory>
#include <vector>

#include "model/engine/command.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "store/journal/journal.h"

namespace ares::store {

// `after` is the state right after the last event. Records are shared with it, never
// computed. Records that no event names are not written. `events` is not empty.
Batch make_batch(std::vector<std::shared_ptr<const Event>> events, const ClusterState& after,
                 std::vector<Attempt> attempts, std::vector<Blob> blobs);

}  // namespace ares::store
