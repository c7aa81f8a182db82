// AccountingMaintenance: administrators' accounting requests other than reports: listing and ending
// runaway attempts, the audit log, the history of nodes, archives.
// Used by the query pool's threads: only they wait for the database.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "aresctld/accounting/archiver.h"
#include "aresctld/accounting/rollup_worker.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/engine/request.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/audit_log.h"
#include "store/accounting/node_log.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class AccountingMaintenance {
 public:
  // `epoch` returns the epoch of the last commit; any thread may call it.
  AccountingMaintenance(store::PgOptions database, store::PgOptions reports,
                        std::size_t connections, std::function<Epoch()> epoch,
                        RollupWorker& rollup_worker, Archiver& archiver)
      : database_(std::move(database)),
        node_log_(reports, connections),
        audit_(std::move(reports), connections),
        epoch_(std::move(epoch)),
        rollup_worker_(rollup_worker),
        archiver_(archiver) {}

  // All return unavailable while the database is unreachable. Who may call which one: Ingress.
  Result<api::RunawayJobs> runaways(const Principal& caller, const api::Runaways& request,
                                    Time now);
  Result<api::Transactions> transactions(const api::ListTransactions& request);
  Result<api::NodeEvents> node_events(const api::ListNodeEvents& request);
  Result<api::Archived> archive(const api::Archive& request);

 private:
  store::PgOptions database_;
  store::NodeLog node_log_;
  store::AuditLog audit_;
  std::function<Epoch()> epoch_;
  RollupWorker& rollup_worker_;
  Archiver& archiver_;
};

}  // namespace ares::aresctld
