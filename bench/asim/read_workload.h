// Reads a workload of any kind; the extension of the file name selects the kind.
#pragma once

#include <cstdint>
#include <string>

#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

// Reads an SWF log (.swf, .swf.gz), a GPU trace (.csv, .csv.gz) or a generated workload (.yaml).
Result<Workload> read_workload(const std::string& path, std::uint64_t seed);

}  // namespace ares::sim
