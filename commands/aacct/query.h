// What one aacct line asks for.
// Owned by aacct's main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aacct/fields.h"
#include "aacct/values.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

struct Query {
  cli::CommonOptions common;
  api::Accounting filter;
  std::string format = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
  std::string delimiter = "|";
  Units units;
  bool all_users = false;
  bool expand_arrays = false;  // a line for each waiting task
  bool truncate = false;       // times that lie outside of the window are shown as its ends
  bool parsable = false;       // -p: a delimiter behind the last field
  bool parsable2 = false;      // -P: none
  bool no_header = false;
  bool list_fields = false;
  bool json = false;

  // What complete() found worth saying should there be no rows.
  std::string hint;
};

cli::OptionTable options(Query& target, Time now);
const cli::Manual& manual();

// Fills in what is not given: whose jobs, and the window of time.
Status complete(Query& query, Time now, std::uint32_t uid);

// Leaves out of the answer what the fields do not show.
void ask_only_for(const std::vector<SelectedField>& chosen, api::Accounting& filter);

}  // namespace ares::aacct
