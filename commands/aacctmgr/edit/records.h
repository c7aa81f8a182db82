// The records that a command works on: a local copy of the controller's records, and the changes to
// send. Pure functions and values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/accounts/account_directory.h"
#include "model/accounts/accounts.h"

namespace ares::aacctmgr {

using Records = core::Accounting;

// The records and cluster data as returned by the controller.
struct Snapshot {
  Records records;
  std::string cluster;
  std::string enforce;
};

// Adds the root account and the default QOS. The controller creates them with the first change;
// until then they are implied.
void add_roots(Records& records);

struct Change {
  enum class Verb { add, modify, remove };
  Verb verb{};
  RecordKey key;
  std::optional<AccountingRecord> before, after;
};

// Ascending by key. Equal records produce no change.
std::vector<Change> changes_between(const Records& before, const Records& after);

// Target number of changes per request; the controller accepts 10,000.
inline constexpr std::size_t kMostInRequest = 5'000;

// Splits the changes into requests and orders them so that no reference dangles after any request:
// QOS, accounts from the root down, users with all their records, then removed accounts from the
// leaves up, and removed QOS. A request has at most `most` changes, unless the changes of one user,
// or of all QOS, are more.
std::vector<std::vector<Change>> in_requests(std::vector<Change> changes, const Records& after,
                                             std::size_t most = kMostInRequest);

// Coordinators must be users, and users may be in accounts that they coordinate, so one sequence of
// requests cannot always get from `before` to `after`. Returns the state after the first round: it
// leaves out coordinators that are not users yet, and keeps accounts (and their QOS) whose
// coordinators are being removed. Equal to `after` if one round is enough.
Records first_round(const Records& before, const Records& after);

// Applies the difference between `before` and `after` to `now`, the records read after the first
// round. Concurrent changes by other users are kept.
Records second_round(const Records& before, const Records& after, const Records& now);

// Returns the record with the fields that only the controller sets (id, time of last change) copied
// from `before`.
AccountingRecord with_identity(AccountingRecord record, const AccountingRecord& before);

// The account's distance from the root; 0 for the root and for accounts that are not connected to
// it.
std::size_t depth_of(const Records& records, std::string_view account);

}  // namespace ares::aacctmgr
