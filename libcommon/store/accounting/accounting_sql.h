// Builds the SQL statement of an accounting query with its parameters, and converts its rows to
// those of the API. Used by Accounting; pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/gen/api.pb.h"
#include "store/accounting/accounting_filter.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_params.h"

namespace ares::store {

// A selected column: the field of AccountingRow that it fills, and how.
struct AccountingColumn {
  int field;           // number of the field
  const char* column;  // of attempt_live and attempt_done
  int bytes;           // approximate size of one value
  void (*fill)(const PgRows& rows, int row, int column, api::AccountingRow& out);
};

// The columns of these fields (all if empty). Keys and attempt come first.
std::vector<const AccountingColumn*> accounting_columns(const std::vector<std::uint32_t>& fields);

struct AccountingStatement {
  std::string sql;
  PgParams params;
  std::vector<const AccountingColumn*> columns;
  std::uint32_t limit = 0;  // a page with this number of rows is full
};

AccountingStatement accounting_statement(const AccountingFilter& filter);

}  // namespace ares::store
