// Reads a workload of any kind; the kind shows in the name of its file.
#pragma once

#include <cstdint>
#include <string>

#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

// Reads an SWF log (.swf, .swf.gz), a GPU trace (.csv, .csv.gz) or a workload of our own (.yaml).
Result<Workload> read_workload(const std::string& path, std::uint64_t seed);

}  // namespace ares::sim
