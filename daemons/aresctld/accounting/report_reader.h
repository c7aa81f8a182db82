// ReportReader: areport's questions, answered from PostgreSQL over connections of its own.
// Used by the query pool's threads, which wait for the database so that nobody else does.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "aresctld/config_holder.h"
#include "aresctld/engine/view.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/report.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class ReportReader {
 public:
  ReportReader(store::PgOptions options, std::size_t connections, const ViewHolder& views,
               const ConfigHolder& config)
      : cluster_(options.cluster_name),
        reports_(std::move(options), connections),
        views_(views),
        config_(config) {}

  // unavailable while the database is away; invalid_argument names what it does not understand.
  Result<api::Reported> read(const api::Report& query, Time now);

 private:
  std::string cluster_;
  store::Reports reports_;
  const ViewHolder& views_;
  const ConfigHolder& config_;
};

// What the database is asked. The time ends with `now` at the latest, and counts in whole seconds.
store::ReportFilter to_filter(const api::Report& query, Time now);

}  // namespace ares::aresctld
