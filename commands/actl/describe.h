// Full descriptions of jobs, nodes and partitions as KEY=VALUE lines for scripts. Keys are those of
// scontrol where it has one. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/output/running_steps.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Several lines, the first one not indented, or a single line if `one_line`. `details` adds the
// allocation on each node. `why` explains why the job waits; null = not requested.
std::string describe(const api::Job& job, Time now, bool one_line, bool details = false,
                     const api::Explanation* why = nullptr);
// The same keys for a job as accounting has it, without what it does not record, and Source=accounting.
std::string describe(const api::AccountingRow& row, Time now, bool one_line);
// On one line: the nodes that a job waits for that is completing.
std::string describe_completing(const api::Job& job);
// Removes the record of each array whose tasks all have records of their own in `jobs`: it would
// look like one more job.
void remove_divided_arrays(api::Jobs& jobs);

std::string describe(const api::Node& node, bool one_line);
// `members` are the partition's nodes, for the totals; other nodes in it are ignored.
std::string describe(const api::Partition& partition, const api::Nodes& members, bool one_line);

std::string describe(const api::Reservation& reservation, bool one_line);
std::string describe(const api::Licenses::License& license, bool one_line);

std::string describe(const api::Plugins::Plugin& plugin, bool one_line);

std::string describe(const cli::RunningStep& step, bool one_line);

// A description with the first value of this key in the colour of the state that it is.
std::string with_coloured_state(std::string text, std::string_view key);

}  // namespace ares::actl
