// The fields of astat, and its lines: jobs, or the shares of jobs on nodes. Immutable values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/output/table.h"
#include "cli/values/step_ids.h"
#include "proto/gen/api.pb.h"

namespace ares::astat {

struct Row {
  api::RunningUse::Line
      sum;  // its numbers are those of all nodes, its max_rss and node of the one with the most
  std::vector<std::string> nodes;
  Time now{};          // the controller's clock
  std::string step{};  // of a line of a step: "0"
};

// In the order of the answer. With `by_node` a row for each node of a job.
std::vector<Row> rows_of(const api::RunningUse& use, bool by_node);

// A row for each step that runs: those that `ids` names, or with `all` those of all jobs of the answer.
std::vector<Row> step_rows(const api::RunningUse& use, const cli::JobOrStepIds& ids, bool all);

const cli::Columns<Row>& columns();

// What is printed without --format.
inline constexpr const char* kUsual =
    "JobID,User,NodeList,NTasks,Processes,RSS,MaxRSS,ReqMem,TotalCPU,CPUEff,Elapsed";

}  // namespace ares::astat
