// What one aqueue line asks for.
// Owned by aqueue's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame.h"
#include "cli/table.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

struct Query {
  cli::Common common;
  api::ListJobs filter;
  std::string format;       // -o; "" = as `shape` says
  std::string name_format;  // -O; likewise
  std::string sort;         // "" = the usual order
  enum class Shape { usual, full, start } shape = Shape::usual;
  bool start = false;  // only what waits
  bool why = false;
  bool no_header = false;
  bool json = false;
  bool me = false;
  bool not_me = false;
  bool verbose = false;
  std::int64_t iterate = 0;  // seconds; 0 = once
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

// The filter that is sent: `uid` is the caller's.
api::ListJobs filter_of(const Query& query, std::uint32_t uid);

// Whether the user chose columns and their widths.
bool has_own_format(const Query& query);
Result<std::vector<cli::Piece>> format_of(const Query& query);
std::string sort_of(const Query& query);

}  // namespace ares::aqueue
