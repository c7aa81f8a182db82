// Groups nodes into the lines of ainfo; the columns of ainfo. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "ainfo/row.h"
#include "base/time.h"
#include "cli/output/table.h"
#include "proto/gen/api.pb.h"

namespace ares::ainfo {

const cli::Columns<Row>& columns();

// The short and the long form of a node's state with its mark: "idle", "mix*", "idle-".
std::string short_state(const api::Node& node);
std::string long_state(const api::Node& node);

// "MIXED" for "MIXED*".
std::string plain_state(const std::string& state);
bool is_silent(const api::Node& node);

struct Grouping {
  bool each_node = false;          // -N: one line per node.
  bool ignore_partitions = false;  // -R: each node once, even if it is in several partitions.
  bool keep_empty = true;          // Partitions without nodes have a line.
  bool exact = false;              // -e: nodes of different sizes have separate lines.
};

// The controller's response.
struct Answer {
  api::Partitions partitions;
  api::Nodes nodes;
  ReservedNodes reserved{};  // Only if a column shows them.
};

// The position of a line within its partition.
std::int64_t state_order(const Row& row);

// The lines of a listing of the columns `shown`. The nodes of a line have equal texts in every
// column that distinguishes nodes.
std::vector<Row> group(const std::vector<const cli::Column<Row>*>& shown, const Answer& answer,
                       const std::vector<const api::Node*>& nodes, const Grouping& grouping);

}  // namespace ares::ainfo
