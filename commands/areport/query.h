// The query described by an areport command line. Owned by areport's main thread.
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
  std::vector<std::string> tres;  // As given with -T; empty = cpu.
  std::optional<Time> start, end;
  Layout layout = Layout::aligned;
  std::string delimiter = "|";
  std::string format;  // "" = the report's default.
  LineOptions line_options;
  bool no_header = false;
  bool tree = false;
  bool job_count = false;  // Reports of sizes: number of jobs instead of allocated resources.
  api::Rollup::What rollup = api::Rollup::SHOW;  // Used if no report is requested.
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

// Parses words such as "cluster util start=2030-01-01 tree": the report and its options. For
// "rollup", `report` stays empty.
Status read_words(const cli::Words& words, Time now, Query& query);

// Fills in defaults. The default time is the day before `now` in the process's time zone.
Status complete(Query& query, Time now);

Result<ReportTable> make_table(const Query& query, const api::Reported& answer);

}  // namespace ares::areport
