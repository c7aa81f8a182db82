// The lines of aacct for one row of accounting: the job's own, and one for each of its steps. Pure
// functions; any thread.
#pragma once

#include <functional>

#include "aacct/query.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

// Calls `take` for each line that the query asks for. The second argument is the step of the line, null
// for the job's own; the first is the row to be printed, in which a step's values are in place of the
// job's.
using TakeLine = std::function<void(const api::AccountingRow&, const api::AccountingStep*)>;
void each_line(const Query& query, const api::AccountingRow& job, const TakeLine& take);

// The highest exit code and signal of its numbered steps: "3:0".
std::string derived_exit_code(const api::AccountingRow& job);

}  // namespace ares::aacct
