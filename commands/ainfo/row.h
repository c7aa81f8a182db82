// Row: one line of ainfo, and how a column behaves on a line that stands for several nodes. Plain values; any thread.
#pragma once

#include <string>
#include <vector>

#include "proto/gen/api.pb.h"

namespace ares::ainfo {

// One line: nodes of one partition that look alike in the columns shown.
struct Row {
  const api::Partition* partition = nullptr;  // null where nodes are listed without partitions
  std::vector<const api::Node*> nodes;
  const std::string* cluster = nullptr;
};

enum Fold : unsigned {
  kTells,  // nodes that differ in it have lines of their own
  kSums,   // adds up or lists the line's nodes
  kLeast,  // shows the least of them; with --exact it tells
};

}  // namespace ares::ainfo
