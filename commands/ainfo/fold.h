// How a column of ainfo behaves on a line that stands for several nodes, and how states are ordered.
// Private to ainfo.
#pragma once

#include "ainfo/rows.h"

namespace ares::ainfo {

enum Fold : unsigned {
  kTells,  // nodes that differ in it have lines of their own
  kSums,   // adds up or lists the line's nodes
  kLeast,  // shows the least of them; with --exact it tells
};

// Where a line stands within its partition.
std::int64_t state_order(const Row& row);

}  // namespace ares::ainfo
