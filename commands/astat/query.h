// The query and the documentation of astat. Owned by main; one thread.
#pragma once

#include <string>

#include "cli/options/frame.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "cli/output/document.h"
#include "cli/values/step_ids.h"
#include "proto/gen/api.pb.h"

namespace ares::astat {

struct Query {
  cli::CommonOptions common;
  api::ListUse filter;
  std::string format;
  bool all_users = false;
  bool by_node = false;  // a line for each node of a job
  bool all_steps = false;
  cli::JobOrStepIds ids;  // -j
  bool no_header = false;
  bool trailing = false;  // fields end with a |
  bool parsable = false;  // fields are separated by a |
  bool list_fields = false;
  cli::Document document;
};

cli::OptionTable options(Query& query);
cli::Manual manual();

}  // namespace ares::astat
