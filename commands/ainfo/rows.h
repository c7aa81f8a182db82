// Nodes grouped into the lines of ainfo, and its columns.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "ainfo/row.h"
#include "base/time.h"
#include "cli/output/table.h"
#include "proto/gen/api.pb.h"

namespace ares::ainfo {

const cli::Columns<Row>& columns();

// "idle", "mix*", "idle-": the short form of a node's state with its mark, and the long one.
std::string short_state(const api::Node& node);
std::string long_state(const api::Node& node);

// "MIXED" of "MIXED*".
std::string plain_state(const std::string& state);
bool is_silent(const api::Node& node);

struct Grouping {
  bool each_node = false;          // -N: a line for every node
  bool ignore_partitions = false;  // -R: a node once, whatever partitions it is in
  bool keep_empty = true;          // partitions without nodes have a line
  bool exact = false;              // -e: nodes of different sizes do not share a line
};

// What the controller says.
struct Answer {
  api::Partitions partitions;
  api::Nodes nodes;
};

// Where a line stands within its partition.
std::int64_t state_order(const Row& row);

// Lines for a listing of `shown` columns. A line's nodes share the text of every column that tells nodes apart.
std::vector<Row> group(const std::vector<const cli::Column<Row>*>& shown, const Answer& answer,
                       const std::vector<const api::Node*>& nodes, const Grouping& grouping);

}  // namespace ares::ainfo
