// Jobs, nodes and partitions in full, as KEY=VALUE lines that scripts can cut. Keys are scontrol's where there is one.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Several lines, the first unindented; or, with `one_line`, a single one. `details`: also what each node gives. `why`: of a
// job that waits; null: not asked.
std::string describe(const api::Job& job, Time now, bool one_line, bool details = false,
                     const api::Explanation* why = nullptr);
std::string describe(const api::Node& node, bool one_line);
// `members` are its nodes, for the totals; others are passed over.
std::string describe(const api::Partition& partition, const api::Nodes& members, bool one_line);

std::string describe(const api::Reservation& reservation, bool one_line);

std::string describe(const api::Plugins::Plugin& plugin, bool one_line);

}  // namespace ares::actl
