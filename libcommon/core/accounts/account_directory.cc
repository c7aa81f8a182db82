#include "core/accounts/account_directory.h"

#include <algorithm>

namespace ares::core {
namespace {

template <class Record>
const Record* find(const Accounting& records, RecordKey key) {
  const AccountingRecord* found = records.find(key);
  return found ? std::get_if<Record>(found) : nullptr;
}

RecordKey key(RecordKind kind, std::string_view name, std::string_view user = {},
              std::string_view partition = {}) {
  return {kind, std::string(name), std::string(user), std::string(partition)};
}

// Visits the account and those above it until visit returns false.
template <class Visit>
void climb(const Accounting& records, std::string_view name, Visit&& visit) {
  const Account* account = find_account(records, name);
  for (int depth = 0; account && depth < kDeepestAccount; ++depth) {
    if (!visit(*account) || account->parent.empty()) return;
    account = find_account(records, account->parent);
  }
}

}  // namespace

const Account* find_account(const Accounting& records, std::string_view name) {
  return find<Account>(records, key(RecordKind::account, name));
}

const User* find_user(const Accounting& records, std::string_view name) {
  return find<User>(records, key(RecordKind::user, name));
}

const Qos* find_qos(const Accounting& records, std::string_view name) {
  return find<Qos>(records, key(RecordKind::qos, name));
}

const Association* find_association(const Accounting& records, std::string_view account,
                                    std::string_view user, std::string_view partition) {
  if (!partition.empty())
    if (const auto* own =
            find<Association>(records, key(RecordKind::association, account, user, partition)))
      return own;
  return find<Association>(records, key(RecordKind::association, account, user));
}

std::vector<std::string> accounts_of(const Accounting& records, std::string_view user) {
  std::vector<std::string> names;
  records.for_each_from(key(RecordKind::association, ""),
                        [&](const RecordKey& at, const AccountingRecord&) {
                          if (at.kind != RecordKind::association) return false;
                          if (at.user == user && (names.empty() || names.back() != at.name))
                            names.push_back(at.name);
                          return true;
                        });
  return names;
}

Chain chain_of(const Accounting& records, std::string_view account, std::string_view user,
               std::string_view partition) {
  Chain chain;
  if (records.empty()) return chain;
  chain.user = find_association(records, account, user, partition);
  climb(records, account, [&](const Account& one) {
    chain.accounts.push_back(&one);
    return true;
  });
  return chain;
}

std::vector<std::string> allowed_qos(const Chain& chain) {
  std::vector<std::string> allowed{std::string(kNormalQos)};
  each_terms(chain, [&](const Terms& terms, const std::string&) {
    if (terms.qos.empty()) return true;
    allowed = terms.qos;
    return false;
  });
  return allowed;
}

std::string default_qos(const Chain& chain) {
  std::string found;
  each_terms(chain, [&](const Terms& terms, const std::string&) {
    found = terms.default_qos;
    return found.empty();
  });
  if (!found.empty()) return found;
  const std::vector<std::string> allowed = allowed_qos(chain);
  if (std::find(allowed.begin(), allowed.end(), kNormalQos) != allowed.end())
    return std::string(kNormalQos);
  return allowed.size() == 1 ? allowed.front() : std::string();
}

bool is_coordinator(const Accounting& records, std::string_view user, std::string_view account) {
  bool found = false;
  climb(records, account, [&](const Account& one) {
    found = std::binary_search(one.coordinators.begin(), one.coordinators.end(), user);
    return !found;
  });
  return found;
}

bool is_within(const Accounting& records, std::string_view account, std::string_view above) {
  bool found = false;
  climb(records, account, [&](const Account& one) {
    found = one.name == above;
    return !found;
  });
  return found;
}

}  // namespace ares::core
