// The selection described by an acancel command line. Owned by acancel's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::acancel {

struct Selection {
  cli::CommonOptions common;
  // Filters. A job must match one value of each given filter.
  std::vector<std::string> users, partitions, names, states, accounts, qos, wckeys, nodes;
  std::vector<std::string> ids;  // As typed, one element each.
  int signal = 0;                // 0 = end the job.
  bool batch_only = false;
  bool full = false;
  bool me = false;
  bool interactive = false;
  bool quiet = false;
  bool verbose = false;
};

cli::OptionTable options(Selection& target);
const cli::Manual& manual();

// The requests to send, in order: one, or one per combination if filters have several values. `uid`
// is the caller's. Returns invalid_argument for a malformed id and if nothing selects a job.
Result<std::vector<api::Cancel>> requests(const Selection& selection, std::uint32_t uid);

// The same selection as a listing, for --interactive. Without ids and users it lists the caller's
// own jobs, and for root all jobs.
Result<api::ListJobs> listing(const Selection& selection, std::uint32_t uid);

// The jobs that a listed row represents: one job, or the waiting tasks of an array.
std::vector<api::JobRef> refs_of(const api::Job& row);

// "Cancel job 12 (train of alice, partition main, RUNNING)?".
std::string question(const Selection& selection, const api::Job& row);

}  // namespace ares::acancel
