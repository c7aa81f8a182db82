// SWF: logs of the Parallel Workloads Archive, in its Standard Workload Format 2.2
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): 18 fields per line, -1 for unknown, comments after ';'.
#pragma once

#include <string>

#include "asim/lines.h"
#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

// Errors name file and line. Jobs that cannot be replayed are skipped and counted: no processors,
// no run time, cancelled before they ran, lines about a part of a job (status 2 to 4).
Result<Workload> read_swf(Lines lines);

}  // namespace ares::sim
