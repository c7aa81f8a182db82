// What one areport line asks for.
// Owned by areport's main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "areport/fields.h"
#include "areport/report_table.h"
#include "areport/reports.h"
#include "areport/units.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/options/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::areport {

struct Query {
  cli::CommonOptions common;
  api::Report filter;
  const ReportKind* report = nullptr;
  const Unit* unit = nullptr;
  std::vector<std::string> tres;  // as -T names them; empty = cpu
  std::optional<Time> start, end;
  Layout layout = Layout::aligned;
  std::string delimiter = "|";
  std::string format;  // "" = the report's own
  LineOptions line_options;
  bool no_header = false;
  bool tree = false;
  bool job_count = false;                        // of sizes: jobs in place of what they held
  api::Rollup::What rollup = api::Rollup::SHOW;  // where no report is asked for
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

// "cluster util start=2030-01-01 tree": which report, and what is said of it. For "rollup" `report` stays empty.
Status read_words(const cli::Words& words, Time now, Query& query);

// Fills in what is not given, with the day before the one of `now` in the process's time zone as the report's time.
Status complete(Query& query, Time now);

Result<ReportTable> make_table(const Query& query, const api::Reported& answer);

}  // namespace ares::areport
