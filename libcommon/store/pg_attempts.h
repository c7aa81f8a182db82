// Accounting rows of a batch: the tables `attempt_live` and `attempt_done`.
// Used by pg_rows.cc; journal thread only.
#pragma once

#include <vector>

#include "store/catalogue.h"
#include "store/pg_connection.h"

namespace ares::store {

std::vector<const PgStatement*> attempt_statements();

// `attempts` holds each key once.
void attempt_steps(const std::vector<const Attempt*>& attempts, ClusterId cluster,
                   const Catalogue& catalogue, std::vector<PgStep>& steps);

}  // namespace ares::store
