// The columns of aqueue, one row each: header, manual, what is asked of the controller and sort order come from here.
// Immutable; any thread.
#pragma once

#include "aqueue/row.h"
#include "cli/output/table.h"

namespace ares::aqueue {

const cli::Columns<Row>& columns();

}  // namespace ares::aqueue
