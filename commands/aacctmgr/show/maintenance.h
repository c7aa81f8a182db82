// Listings read from accounting rather than from the records: transactions and runaway jobs. Used
// by show, on aacctmgr's main thread.
#pragma once

#include <vector>

#include "aacctmgr/command.h"
#include "aacctmgr/show/fields.h"

namespace ares::aacctmgr {

Result<int> show_transactions(Context& context, const Where& where,
                              const std::vector<SelectedField>& chosen);

// Lists runaway jobs and, after confirmation, marks them as ended. Returns 1 if the user declines.
Result<int> show_runaways(Context& context, const std::vector<SelectedField>& chosen);

}  // namespace ares::aacctmgr
