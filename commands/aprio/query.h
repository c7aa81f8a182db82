// The query and the documentation of aprio. Owned by main; one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options/frame.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "cli/output/document.h"
#include "proto/gen/api.pb.h"

namespace ares::aprio {

struct Query {
  cli::CommonOptions common;
  api::ListPriorities filter;
  bool normalised = false;  // Factors from 0 to 1 instead of points.
  bool weights = false;     // Only the weights of the factors.
  bool wide = false;
  bool no_header = false;
  cli::Document document;
};

cli::OptionTable options(Query& query);
cli::Manual manual();

}  // namespace ares::aprio
