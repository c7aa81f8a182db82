// The records that a command works on: a copy of the controller's, changed here, and what has to be sent to make both alike.
// Pure functions and values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/accounts/account_directory.h"
#include "model/accounts/accounts.h"

namespace ares::aacctmgr {

using Records = core::Accounting;

// What the controller said when it was asked.
struct Snapshot {
  Records records;
  std::string cluster;
  std::string enforce;
};

// The account above all and the QOS of everybody come with the first change there is: until then they are as good as there.
void add_roots(Records& records);

struct Change {
  enum class Verb { add, modify, remove };
  Verb verb{};
  RecordKey key;
  std::optional<AccountingRecord> before, after;
};

// Ascending by key; records that are equal are no change.
std::vector<Change> changes_between(const Records& before, const Records& after);

// Changes of one request; the controller takes 10,000.
inline constexpr std::size_t kMostInRequest = 5'000;

// In an order in which the changes up to each point that requests end at leave nothing referring to what is not there: QOS, accounts
// from the top down, users with all that is theirs, then accounts that go from below, and QOS that go. Each request has at most `most`,
// unless what belongs to one user, or all QOS, are more.
std::vector<std::vector<Change>> in_requests(std::vector<Change> changes, const Records& after,
                                             std::size_t most = kMostInRequest);

// Coordinators are users of whom some are in accounts that they coordinate, so several requests may not get from `before` to `after` in one
// round, whatever their order. This is as far as the first gets: without coordinators who are no users yet, and with accounts still there
// that had users as coordinators who go (and with the QOS that go). Equal to `after` where one round is enough.
Records first_round(const Records& before, const Records& after);

// What `now`, found after the first round, has to become: `after` as far as it differs from `before`. What others did meanwhile stays.
Records second_round(const Records& before, const Records& after, const Records& now);

// The record with what only the controller gives (id, last change) as in `before`.
AccountingRecord with_identity(AccountingRecord record, const AccountingRecord& before);

// The account's distance from the root; 0 for it and for what leads nowhere.
std::size_t depth_of(const Records& records, std::string_view account);

}  // namespace ares::aacctmgr
