// Reads the live images of a database into a ClusterState.
// Used by PgJournal::open() on the journal thread, and by UsageRecords.
#pragma once

#include "base/result.h"
#include "model/engine/state.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

// All records at the controller's lsn, in one snapshot; indexes are rebuilt. Records of a job share
// one specification. data_loss: an image is unreadable or missing; the text names it.
Result<ClusterState> load_state(PgConnection& connection);

// Only accounting records, their usage and its start time. Uses the open transaction.
Result<ClusterState> load_accounts(PgConnection& connection);

}  // namespace ares::store
