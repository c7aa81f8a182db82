// Accounting rows of pending jobs, made from a view because the database has no rows for them.
// Pure; any thread.
#pragma once

#include <cstdint>

#include "aresctld/engine/view.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/accounting.h"

namespace ares::aresctld {

// About `limit` rows at most that pass the filter, in accounting order. `more` and `last` are set
// if further rows follow. All tasks of an array that wait in its record share one row.
api::AccountingRows waiting_rows(const View& view, const Policy& policy,
                                 const store::AccountingFilter& filter, std::uint32_t limit,
                                 Time now);

}  // namespace ares::aresctld
