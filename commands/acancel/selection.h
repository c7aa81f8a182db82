// What one acancel line asks for.
// Owned by acancel's main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::acancel {

struct Selection {
  cli::Common common;
  api::JobSelector filter;         // without ids and node
  std::vector<std::string> nodes;  // one request each
  std::vector<std::string> ids;    // as typed, one item each
  int signal = 0;                  // 0 = end the job
  bool batch_only = false;
  bool me = false;
  bool quiet = false;
  bool verbose = false;
};

cli::OptionTable options(Selection& target);
const cli::Manual& manual();

// "TERM", "SIGTERM", "15". invalid_argument for anything else.
Result<int> parse_signal(const std::string& text);

// The requests to send, in this order. invalid_argument for a malformed id and when nothing selects a job.
Result<std::vector<api::Cancel>> requests(const Selection& selection);

}  // namespace ares::acancel
