// AccountingReader: aacct's questions, answered from PostgreSQL over connections of its own.
// Used by the query pool's threads, which wait for the database so that nobody else does.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/accounting.h"
#include "store/pg_options.h"

namespace ares::aresctld {

class AccountingReader {
 public:
  explicit AccountingReader(store::PgOptions options) : accounting_(std::move(options)) {}

  // unavailable while the database is away.
  Result<api::AccountingRows> read(const api::Accounting& query, Time now);

 private:
  store::Accounting accounting_;
};

}  // namespace ares::aresctld
