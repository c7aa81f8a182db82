// Jobs, nodes and partitions in full, as KEY=VALUE lines that scripts can cut.
// Pure functions; any thread.
#pragma once

#include <string>

#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Several lines, the first unindented; or, with `one_line`, a single one.
std::string describe(const api::Job& job, Time now, bool one_line);
std::string describe(const api::Node& node, bool one_line);
std::string describe(const api::Partition& partition, bool one_line);

// The name of an output file, as far as it is known before the job runs: %j %A %a %x %u %r %% with padding; others stay.
std::string expand_file_name(const std::string& pattern, const api::Job& job);

}  // namespace ares::actl
