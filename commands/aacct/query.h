// What one aacct line asks for, and how its answer is printed.
// Owned by aacct's main thread.
#pragma once

#include <string>
#include <vector>

#include "aacct/fields.h"
#include "base/result.h"
#include "cli/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

struct Query {
  cli::Common common;
  api::Accounting filter;
  std::vector<std::string> nodes;
  std::string format = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
  std::string delimiter = "|";
  bool all_users = false;
  bool parsable = false;   // -p: a delimiter behind the last field
  bool parsable2 = false;  // -P: none
  bool no_header = false;
  bool list_fields = false;
  bool json = false;
};

cli::OptionTable options(Query& target, Time now);
const cli::Manual& manual();

// Fills in what is not given: the caller's own jobs, since midnight.
Status complete(Query& query, Time now, std::uint32_t uid);

// The rows that pass what the controller cannot filter.
std::vector<Row> select(const Query& query, const std::vector<api::AccountingRow>& rows, Time now);

std::string print(const Query& query, const std::vector<Chosen>& chosen,
                  const std::vector<Row>& rows);

}  // namespace ares::aacct
