// AccountingReader: answers the queries of aacct from PostgreSQL over its own connections. Pending
// jobs have no row there; their rows come from the published view.
// Used by the query pool's threads: only they wait for the database.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aresctld/accounting/step_rows.h"
#include "aresctld/config_holder.h"
#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "aresctld/watch/ended_rows.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/accounting.h"
#include "store/accounting/ended_log.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class AccountingReader {
 public:
  AccountingReader(store::PgOptions options, std::size_t connections, const ViewHolder& views,
                   const ConfigHolder& config, Identity& identity, LiveSteps live_steps)
      : cluster_(options.cluster_name),
        ended_log_(primary_of(options), connections),
        primary_(primary_of(options), connections),
        accounting_(std::move(options), connections),
        views_(views),
        config_(config),
        identity_(identity),
        live_steps_(std::move(live_steps)) {}

  // Rows of the attempts that ended behind the change `after` up to `upto`, which the query selects whatever its window of
  // time is. Without all_attempts those are left out that the job's next attempt followed. Not from a replica.
  Result<EndedRows> read_ended(const api::Accounting& query, Lsn after, Lsn upto, Time now);

  // unavailable while the database is unreachable; invalid_argument names the invalid part,
  // not_found a user that neither the system nor accounting knows.
  Result<api::AccountingRows> read(const api::Accounting& query, Time now);

 private:
  // `names`: users that the system does not know.
  Status check_users(const std::vector<std::string>& names, Time now);

  static store::PgOptions primary_of(store::PgOptions options);
  void add_groups(const api::Accounting& query, api::AccountingRows& rows);

  std::string cluster_;
  store::EndedLog ended_log_;
  store::Accounting primary_;
  store::Accounting accounting_;
  const ViewHolder& views_;
  const ConfigHolder& config_;
  Identity& identity_;
  LiveSteps live_steps_;
};

// Merges the rows of pending jobs with the rows of the database, which were read later. If a job
// has left the queue in between, its row of the database is used. Both inputs ascend; pure.
api::AccountingRows merge(api::AccountingRows waiting, api::AccountingRows stored);

}  // namespace ares::aresctld
