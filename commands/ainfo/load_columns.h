// The columns of ainfo that nodes measure: the load and the free memory of their machines. Pure; any
// thread.
#pragma once

#include <vector>

#include "ainfo/row.h"
#include "cli/output/table.h"

namespace ares::ainfo {

std::vector<cli::Column<Row>> load_columns();

}  // namespace ares::ainfo
