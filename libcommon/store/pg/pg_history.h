// What nodes and reservations were when: the tables `node_span` and `reservation_span`, from which reports know what there was.
// Used by pg_rows.cc; journal thread only.
#pragma once

#include <string_view>
#include <vector>

#include "model/cluster/node.h"
#include "store/journal/journal.h"
#include "store/pg/catalogue.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

// How a node stands: "up", "drained" (by a command, or on its way out of the cluster), "down". What has not registered is down.
std::string_view availability_of(const Node& node);

std::vector<const PgStatement*> history_statements();

// Rows for what has changed against the last row; none for what has not. They begin with the batch's first event.
void history_steps(const Batch& batch, const Catalogue& catalogue, std::vector<PgStep>& steps);

}  // namespace ares::store
