// Checks of accounting records by themselves and against each other; decide() enforces them.
// Pure functions; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/accounts/account_directory.h"

namespace ares::core {

// The account `root` and the QOS `normal` as they are created.
Account root_account();
Qos normal_qos();

// Checks the names in a key, before anything else is checked. invalid_argument.
Status check_names(const RecordKey& key);

// Sorts the lists; removes duplicates from all but the limits.
void normalise(AccountingRecord& record);

// Whether limits on the TRES exist: cpu, mem, node, billing, gres/gpu, gres/gpu:TYPE, license/NAME.
bool is_limited_tres(std::string_view name);

// Checks one record of `all`: texts, references, limits. invalid_argument, naming the record.
Status check_record(const Accounting& all, const AccountingRecord& record);

// No record may refer to a removed one: failed_precondition; a user's defaults: invalid_argument.
Status check_removed(const Accounting& all, const std::vector<RecordKey>& removed);

}  // namespace ares::core
