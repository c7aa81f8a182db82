// GPU traces: CSV files whose first line names the columns. The column names identify the trace:
// pods of Alibaba's cluster of 2023 (openb; cpu_milli, num_gpu, gpu_spec ...; some of its lists
// have neither times nor models), jobs of Philly (timestamp, duration, num_gpus, gpu_time,
// cluster), jobs with the time since the one before (user, gpu_num, cpu_num, node_num, interval,
// run_time, wall_time), as Helios' and Theta's are also passed on. Pure except for reading the file.
#pragma once

#include "asim/lines.h"
#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

// Errors name the file and line, or the unknown columns.
Result<Workload> read_gpu_trace(Lines lines);

// The openb list of nodes (sn, cpu_milli, memory_mib, gpu, model) as the nodes of an ares.yaml.
Result<std::string> read_openb_nodes(Lines lines);

}  // namespace ares::sim
