// ReportReader: answers the queries of areport from PostgreSQL over its own connections.
// Used by the query pool's threads: only they wait for the database.
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

  // unavailable while the database is unreachable; invalid_argument names the invalid part.
  Result<api::Reported> read(const api::Report& query, Time now);

 private:
  std::string cluster_;
  store::Reports reports_;
  const ViewHolder& views_;
  const ConfigHolder& config_;
};

// The query for the database. Its period ends at `now` at the latest and has whole seconds.
store::ReportFilter to_filter(const api::Report& query, Time now);

}  // namespace ares::aresctld
