// Rules of fair share with the account tree and the QOS priorities of the accounting records,
// instead of those of the configuration. Pure; any thread.
#pragma once

#include <memory>

#include "core/accounts/account_directory.h"
#include "model/accounts/fairness.h"

namespace ares::core {

// `configured` if there are no records or no rules. O(records). A user's row is the association for
// all partitions, else the first one: shares and usage are by account, not by partition.
std::shared_ptr<const Fairness> with_records(const std::shared_ptr<const Fairness>& configured,
                                             const Accounting& records);

}  // namespace ares::core
