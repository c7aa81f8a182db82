// What is asked of the controller's database beside records: transactions, runaway jobs.
// Used by show; aacctmgr's main thread.
#pragma once

#include <vector>

#include "aacctmgr/command.h"
#include "aacctmgr/show/fields.h"

namespace ares::aacctmgr {

Result<int> show_transactions(Context& context, const Where& where,
                              const std::vector<SelectedField>& chosen);

// Lists them, and sets them ended if that is wanted: 1 where it was not.
Result<int> show_runaways(Context& context, const std::vector<SelectedField>& chosen);

}  // namespace ares::aacctmgr
