// The query described by an aacct command line. Owned by aacct's main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aacct/fields.h"
#include "aacct/values.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "cli/output/colour.h"
#include "cli/output/document.h"
#include "cli/values/step_ids.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

struct Query {
  cli::CommonOptions common;
  api::Accounting filter;
  std::string format = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
  bool own_format = false;  // The user gave it: it is not fitted to the terminal.
  std::string delimiter = "|";
  Units units;
  bool all_users = false;
  bool expand_arrays = false;  // One line for each waiting task.
  bool truncate = false;       // Times outside the window are replaced by its ends.
  bool parsable = false;       // -p: a delimiter after the last field.
  bool parsable2 = false;      // -P: no delimiter after the last field.
  bool no_header = false;
  bool list_fields = false;
  cli::Document document;
  cli::ColourWhen colour = cli::ColourWhen::automatic;
  bool follow = false;            // Go on with what ends.
  bool allocations = false;       // -X: no lines of steps.
  cli::JobOrStepIds ids;          // -j.
  std::size_t longest_list = 64;  // Of array indices in an aligned list; 0 = all.

  // Hint of complete() that is printed if there are no rows.
  std::string hint;
};

cli::OptionTable options(Query& target, Time now);
const cli::Manual& manual();

// Fills in defaults: the users whose jobs are listed, and the time window.
Status complete(Query& query, Time now, std::uint32_t uid);

// Requests only the fields that are shown, and the steps if any of it needs them.
void ask_only_for(const std::vector<SelectedField>& chosen, Query& query);

}  // namespace ares::aacct
