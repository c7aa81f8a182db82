// What one aqueue line asks for.
// Owned by aqueue's main thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

struct Query {
  cli::Common common;
  api::ListJobs filter;
  std::vector<std::string> qos;
  std::string format;  // "" = by the flags below
  std::string sort;    // "" likewise
  bool long_format = false;
  bool start = false;
  bool no_header = false;
  bool json = false;
  bool me = false;
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

std::string format_of(const Query& query);
std::string sort_of(const Query& query);

// The listing as it is printed.
Result<std::string> print(const Query& query, const api::Jobs& jobs);

}  // namespace ares::aqueue
