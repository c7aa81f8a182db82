// The query described by an aqueue command line. Owned by aqueue's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/frame.h"
#include "cli/options/listing_options.h"
#include "cli/output/table.h"
#include "cli/values/step_ids.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

struct Query {
  cli::CommonOptions common;
  api::ListJobs filter;
  cli::ListingChoice listing;  // Columns not chosen here follow `shape`.
  enum class Shape { usual, full, start, states } shape = Shape::usual;
  bool start = false;  // Only waiting jobs.
  bool why = false;
  bool each_partition = false;  // One row per partition that a job waits for.
  bool me = false;
  bool not_me = false;
  bool verbose = false;
  bool watch = false;          // go on with what changes
  bool steps = false;          // of jobs, in place of these
  cli::JobOrStepIds step_ids;  // Only these; empty: all.

  // Jobs that have ended are left out although no state was chosen.
  bool shows_live_jobs() const {
    return filter.states().empty() && !start && !why && !listing.document;
  }
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

// The filter of the request; `uid` is the caller's.
api::ListJobs filter_of(const Query& query, std::uint32_t uid);

Result<std::vector<cli::FormatItem>> format_of(const Query& query);
std::string sort_of(const Query& query);

}  // namespace ares::aqueue
