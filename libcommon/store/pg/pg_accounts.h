// Accounting records and usage: the tables `accounting_conf` and `association_usage`.
// Used by pg_rows.cc; journal thread only.
#pragma once

#include <vector>

#include "store/journal/journal.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

std::vector<const PgStatement*> accounts_statements();
void accounts_steps(const Batch& batch, std::vector<PgStep>& steps);

}  // namespace ares::store
