// History of nodes and reservations: tables `node_span` and `reservation_span` for reports, and
// `node_event`, what happened to nodes.
// Used by pg_rows.cc; journal thread only.
#pragma once

#include <string_view>
#include <vector>

#include "model/cluster/node.h"
#include "store/journal/journal.h"
#include "store/pg/catalogue.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

// "up", "drained" (by a command, or leaving the cluster) or "down", also if not registered.
std::string_view availability_of(const Node& node);

std::vector<const PgStatement*> history_statements();

// Writes rows only for what differs from its last row. They begin with the batch's first event.
void history_steps(const Batch& batch, const Catalogue& catalogue, std::vector<PgStep>& steps);

}  // namespace ares::store
