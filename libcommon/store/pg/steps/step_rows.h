// Accounting rows of steps: the table `attempt_step`, written from the events of a batch.
// Used by pg_rows.cc; journal thread only.
#pragma once

#include <vector>

#include "store/journal/journal.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

std::vector<const PgStatement*> step_row_statements();

// A row that is there stays as it is: a repeated commit writes the same.
void step_row_steps(const Batch& batch, std::vector<PgStep>& steps);

}  // namespace ares::store
