// Whether records of accounting make sense by themselves and beside each other: what decide() lets nobody break.
// Pure functions; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/accounts/account_directory.h"

namespace ares::core {

// The account `root` and the QOS `normal`, as they are before anybody has said anything of them.
Account root_account();
Qos normal_qos();

// What a record is called, before anything else is said of it. invalid_argument.
Status check_names(const RecordKey& key);

// Lists ascending, each entry once.
void normalise(AccountingRecord& record);

// A TRES that limits can be of: cpu, mem, node, billing, gres/gpu, gres/gpu:TYPE, license/NAME.
bool is_limited_tres(std::string_view name);

// One record, among `all` of which it is part: its names, what it refers to, its limits. invalid_argument, naming the record.
Status check_record(const Accounting& all, const AccountingRecord& record);

// That nothing in `all` refers to what is not there any more. One pass over all records. failed_precondition, naming both.
Status check_removed(const Accounting& all, const std::vector<RecordKey>& removed);

}  // namespace ares::core
