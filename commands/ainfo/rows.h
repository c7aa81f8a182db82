// Nodes grouped into the lines of ainfo, and its columns.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/table.h"
#include "proto/gen/api.pb.h"

namespace ares::ainfo {

// One line: nodes of one partition that look alike in the columns shown.
struct Row {
  const api::Partition* partition = nullptr;  // null where nodes are listed without partitions
  std::vector<const api::Node*> nodes;
};

const std::vector<cli::Column<Row>>& columns();

// "idle", "mix*": the short form of a state.
std::string short_state(const std::string& state);

struct Grouping {
  bool each_node = false;          // -N: a line for every node
  bool ignore_partitions = false;  // -R: a node once, whatever partitions it is in
  bool keep_empty = true;          // partitions without nodes have a line
};

// Lines for `format`. A line's nodes share the text of every column that is not a sum or a list.
Result<std::vector<Row>> group(const std::string& format, const api::Partitions& partitions,
                               const std::vector<const api::Node*>& nodes,
                               const Grouping& grouping);

}  // namespace ares::ainfo
