// From a question about accounting to one SQL statement with its parameters, and from its rows to
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

// One column that is selected: of which field of AccountingRow, and how it gets there.
struct AccountingColumn {
  int field;           // its number
  const char* column;  // of attempt_live and attempt_done
  int bytes;           // that one value takes, about
  void (*fill)(const PgRows& rows, int row, int column, api::AccountingRow& out);
};

// Those of the fields named, all if none is; keys and attempt first.
std::vector<const AccountingColumn*> accounting_columns(const std::vector<std::uint32_t>& fields);

struct AccountingStatement {
  std::string sql;
  PgParams params;
  std::vector<const AccountingColumn*> columns;
  std::uint32_t limit = 0;  // with so many rows the page is full
};

AccountingStatement accounting_statement(const AccountingFilter& filter);

}  // namespace ares::store
