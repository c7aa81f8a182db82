// Views of the accounting records: members of accounts, the terms that apply to a job, allowed QOS.
// Pure functions over a state's records; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cow_map.h"
#include "model/accounts/accounts.h"

namespace ares::core {

// Maximum depth of accounts. A deeper tree is treated as a cycle; decide() permits neither.
inline constexpr int kDeepestAccount = 64;

using Accounting = CowMap<RecordKey, AccountingRecord>;

const Account* find_account(const Accounting& records, std::string_view name);
const User* find_user(const Accounting& records, std::string_view name);
const Qos* find_qos(const Accounting& records, std::string_view name);

// The user's association with the account: for that partition, else for all; null if there is none.
const Association* find_association(const Accounting& records, std::string_view account,
                                    std::string_view user, std::string_view partition = {});

// The user's accounts, ascending. O(associations).
std::vector<std::string> accounts_of(const Accounting& records, std::string_view user);

// The records with terms for a job, nearest first: the user's association, the account, its parent,
// up to the root. The association may be null. Stops at an account that does not exist.
struct Chain {
  const Association* user = nullptr;
  std::vector<const Account*> accounts;
  bool empty() const { return !user && accounts.empty(); }
};
Chain chain_of(const Accounting& records, std::string_view account, std::string_view user,
               std::string_view partition);

// Visits the terms of a chain, nearest first, until visit(terms, name) returns false.
template <class Visit>
void each_terms(const Chain& chain, Visit&& visit) {
  if (chain.user && !visit(chain.user->terms, chain.user->key.user)) return;
  for (const Account* account : chain.accounts)
    if (!visit(account->terms, account->name)) return;
}

// The QOS that jobs of the chain may use: the nearest list that is not empty, else only `normal`.
std::vector<std::string> allowed_qos(const Chain& chain);
// For jobs that name none: the nearest default, else `normal` or the only QOS allowed, else empty.
std::string default_qos(const Chain& chain);

// Whether the user is named as coordinator of the account or of an account above it.
bool is_coordinator(const Accounting& records, std::string_view user, std::string_view account);

// Whether `account` is `above` or lies below it.
bool is_within(const Accounting& records, std::string_view account, std::string_view above);

}  // namespace ares::core
