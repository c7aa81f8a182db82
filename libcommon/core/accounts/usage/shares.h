// The rules of fair share with the tree of accounts and the priorities of QOS that records of accounting say, in place of those
// of the configuration. Pure; any thread.
#pragma once

#include <memory>

#include "core/accounts/account_directory.h"
#include "model/accounts/fairness.h"

namespace ares::core {

// `configured` itself where there are no records, or no rules. O(records). A user's line is the one of his association for all
// partitions, else of his first: shares and usage are by account, not by partition.
std::shared_ptr<const Fairness> with_records(const std::shared_ptr<const Fairness>& configured,
                                             const Accounting& records);

}  // namespace ares::core
