// The columns of aqueue, one row each. Headers, the manual, the requested fields and the sort order
// use these rows. Immutable; any thread.
#pragma once

#include "aqueue/row.h"
#include "cli/output/table.h"

namespace ares::aqueue {

const cli::Columns<Row>& columns();

}  // namespace ares::aqueue
