// What one acancel line asks for.
// Owned by acancel's main thread.
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
  // Filters: of each kind one must match; none given lets everything pass.
  std::vector<std::string> users, partitions, names, states, accounts, qos, wckeys, nodes;
  std::vector<std::string> ids;  // as typed, one item each
  int signal = 0;                // 0 = end the job
  bool batch_only = false;
  bool full = false;
  bool me = false;
  bool interactive = false;
  bool quiet = false;
  bool verbose = false;
};

cli::OptionTable options(Selection& target);
const cli::Manual& manual();

// "TERM", "SIGTERM", "15". invalid_argument for anything else.
Result<int> parse_signal(const std::string& text);

// The requests to send, in this order: one, or one for each combination where a filter has several values. `uid` is the caller's.
// invalid_argument for a malformed id and when nothing selects a job.
Result<std::vector<api::Cancel>> requests(const Selection& selection, std::uint32_t uid);

// The same as a listing, for --interactive. Without ids and users it lists the caller's own jobs, root's everybody's.
Result<api::ListJobs> listing(const Selection& selection, std::uint32_t uid);

// What a listed row stands for: a job, or those tasks of an array that still wait.
std::vector<api::JobRef> refs_of(const api::Job& row);

// "Cancel job 12 (train of alice, partition main, RUNNING)?".
std::string question(const Selection& selection, const api::Job& row);

}  // namespace ares::acancel
