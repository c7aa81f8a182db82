// Steps of a controller on a fresh connection before it may commit: checks that the server does not
// lose confirmed commits, and takes the next epoch. Used by PgJournal; journal thread only.
#pragma once

#include <string>

#include "base/result.h"
#include "store/journal/high_water.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

// failed_precondition if the server's settings may lose commits, its encoding lacks characters,
// or the database belongs to another cluster.
Status check_server(PgConnection& connection, const PgOptions& options);

// One more than the highest epoch, in a separate commit. `holder` identifies this process.
// Refuses a database behind `options.seen`; if that was accepted, raises its position above `seen`.
Result<HighWaterMark> take_epoch(PgConnection& connection, const PgOptions& options,
                                 const std::string& holder);

// The same, but only if this process still holds the epoch; stale if another controller took over.
Result<HighWaterMark> retake_epoch(PgConnection& connection, const PgOptions& options,
                                   const std::string& holder);

}  // namespace ares::store
