// Reports of a run: the summary as text or JSON, a CSV file with a line a job, an SVG picture of use and queue over time.
// Pure but for write_file; any thread.
#pragma once

#include <string>
#include <vector>

#include "asim/outcome.h"
#include "asim/summary.h"
#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

struct Setting {  // what the run was asked for, for whoever reads the report later
  std::string name, value;
};

std::string summary_text(const std::vector<Setting>& settings, const Workload& workload,
                         const Outcome& outcome, const std::vector<Row>& rows);
std::string summary_json(const std::vector<Setting>& settings, const Workload& workload,
                         const Outcome& outcome, const std::vector<Row>& rows);

// Header line and one line a job, in the workload's order; times in seconds since its origin, empty where there is none.
std::string jobs_csv(const Workload& workload, const Outcome& outcome);

// CPUs (and GPUs) in use above, jobs waiting and running below.
std::string history_svg(const std::string& title, const Outcome& outcome);

Status write_file(const std::string& path, const std::string& content);

}  // namespace ares::sim
