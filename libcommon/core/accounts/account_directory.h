// What the records of accounting say when put together: who is in which account, what holds for him there, what he may use.
// Pure functions over a state's records; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cow_map.h"
#include "model/accounts/accounts.h"

namespace ares::core {

// Levels of accounts. A tree that is deeper is taken for a circle; decide() lets nobody make either.
inline constexpr int kDeepestAccount = 64;

using Accounting = CowMap<RecordKey, AccountingRecord>;

const Account* find_account(const Accounting& records, std::string_view name);
const User* find_user(const Accounting& records, std::string_view name);
const Qos* find_qos(const Accounting& records, std::string_view name);

// Of the user in the account: the one for that partition, else the one for all. Null: he is not in it.
const Association* find_association(const Accounting& records, std::string_view account,
                                    std::string_view user, std::string_view partition = {});

// The user's accounts, ascending. O(associations).
std::vector<std::string> accounts_of(const Accounting& records, std::string_view user);

// What holds for a job, the nearest first: the user in the account, the account, its parent, and so on up to the root. The user's
// is null where there is none. Stops at an account that does not exist.
struct Chain {
  const Association* user = nullptr;
  std::vector<const Account*> accounts;
  bool empty() const { return !user && accounts.empty(); }
};
Chain chain_of(const Accounting& records, std::string_view account, std::string_view user,
               std::string_view partition);

// Visits the terms of a chain from the nearest on, until visit(terms, name) says stop (false).
template <class Visit>
void each_terms(const Chain& chain, Visit&& visit) {
  if (chain.user && !visit(chain.user->terms, chain.user->key.user)) return;
  for (const Account* account : chain.accounts)
    if (!visit(account->terms, account->name)) return;
}

// What QOS jobs of that chain may run with: the nearest list that is not empty; `normal` where nobody says anything.
std::vector<std::string> allowed_qos(const Chain& chain);
// That of jobs which name none: the nearest default, else `normal` if it is allowed, else the only one allowed, else empty.
std::string default_qos(const Chain& chain);

// Whether the user administers the account: he is named as coordinator of it or of an account above it.
bool is_coordinator(const Accounting& records, std::string_view user, std::string_view account);

// Whether `account` is `above` or lies below it.
bool is_within(const Accounting& records, std::string_view account, std::string_view above);

}  // namespace ares::core
