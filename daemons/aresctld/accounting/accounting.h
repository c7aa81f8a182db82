// AccountingReader: aacct's questions, answered from PostgreSQL over connections of its own, and from the published view for jobs
// that wait, which have no row there.
// Used by the query pool's threads, which wait for the database so that nobody else does.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/accounting.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class AccountingReader {
 public:
  AccountingReader(store::PgOptions options, std::size_t connections, const ViewHolder& views,
                   Identity& identity)
      : cluster_(options.cluster_name),
        accounting_(std::move(options), connections),
        views_(views),
        identity_(identity) {}

  // unavailable while the database is away; invalid_argument names what it does not understand.
  Result<api::AccountingRows> read(const api::Accounting& query, Time now);

 private:
  std::string cluster_;
  store::Accounting accounting_;
  const ViewHolder& views_;
  Identity& identity_;
};

// Puts the rows of waiting jobs among those of the database, which were read later: a job that has left the queue in between is told
// by the database. Both ascend; pure.
api::AccountingRows merge(api::AccountingRows waiting, api::AccountingRows stored);

}  // namespace ares::aresctld
