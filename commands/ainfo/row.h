// Row: one line of ainfo, and how a column combines the nodes of a line. Plain values; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proto/gen/api.pb.h"

namespace ares::ainfo {

using ReservedNodes = std::map<std::string, std::string>;

// One line: nodes of one partition with equal texts in the columns shown.
struct Row {
  const api::Partition* partition = nullptr;  // Null if nodes are listed without partitions.
  std::vector<const api::Node*> nodes;
  const std::string* cluster = nullptr;
  const ReservedNodes* reserved = nullptr;
};

enum Fold : unsigned {
  kTells,        // Nodes with different values have separate lines.
  kSums,         // Adds up or lists the line's nodes.
  kLeast,        // Shows the minimum; with --exact, behaves like kTells.
  kOfPartition,  // As kTells; without any of these each node is listed once for all partitions.
};

}  // namespace ares::ainfo
