// Reports of a run: the summary as text or JSON, a CSV file with one line per job, an SVG chart of
// usage and queue over time. Pure except for write_file; any thread.
#pragma once

#include <string>
#include <vector>

#include "asim/outcome.h"
#include "asim/summary.h"
#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

struct Setting {  // an option of the run, printed in its reports
  std::string name, value;
};

std::string summary_text(const std::vector<Setting>& settings, const Workload& workload,
                         const Outcome& outcome, const std::vector<Row>& rows);
std::string summary_json(const std::vector<Setting>& settings, const Workload& workload,
                         const Outcome& outcome, const std::vector<Row>& rows);

// Header and one line per job, in the workload's order. Times: seconds since its origin, or empty.
std::string jobs_csv(const Workload& workload, const Outcome& outcome);

// Upper chart: CPUs (and GPUs) in use. Lower chart: jobs waiting and running.
std::string history_svg(const std::string& title, const Outcome& outcome);

Status write_file(const std::string& path, const std::string& content);

}  // namespace ares::sim
