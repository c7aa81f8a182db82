// Accounting rows of jobs that wait: made from a view, as the database has none of them.
// Pure; any thread.
#pragma once

#include <cstdint>

#include "aresctld/engine/view.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/accounting.h"

namespace ares::aresctld {

// At most about `limit` rows that pass the filter, in the order of accounting; `more` and `last` are set if there are others behind
// them. All tasks of an array that wait in its record are one row.
api::AccountingRows waiting_rows(const View& view, const store::AccountingFilter& filter,
                                 std::uint32_t limit);

}  // namespace ares::aresctld
