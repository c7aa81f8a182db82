#include "core/accounts/usage/shares.h"

#include <utility>

namespace ares::core {
namespace {

// The rows name the root by an empty string.
std::string name_in_tree(const std::string& account) {
  return account == kRootAccount ? std::string() : account;
}

AccountRow row_of(const Terms& terms) {
  AccountRow row;
  row.shares = terms.shares;
  row.priority = terms.priority;
  return row;
}

}  // namespace

std::shared_ptr<const Fairness> with_records(const std::shared_ptr<const Fairness>& configured,
                                             const Accounting& records) {
  if (!configured || records.empty()) return configured;
  auto rules = std::make_shared<Fairness>(*configured);
  rules->tree.clear();
  rules->qos.clear();
  rules->usage_time = Seconds{0};
  // Associations of one user in one account follow each other, the one for all partitions first.
  const AssociationKey* last = nullptr;
  records.for_each_from({}, [&](const RecordKey&, const AccountingRecord& record) {
    if (const auto* account = std::get_if<Account>(&record); account && !account->parent.empty()) {
      AccountRow row = row_of(account->terms);
      row.account = account->name;
      row.parent = name_in_tree(account->parent);
      rules->tree.push_back(std::move(row));
    } else if (const auto* one = std::get_if<Association>(&record)) {
      if (last && last->account == one->key.account && last->user == one->key.user) return true;
      last = &one->key;
      AccountRow row = row_of(one->terms);
      row.account = name_in_tree(one->key.account);
      row.user = one->key.user;
      rules->tree.push_back(std::move(row));
    } else if (const auto* qos = std::get_if<Qos>(&record)) {
      rules->qos[qos->name] = qos->priority;
    }
    return true;
  });
  return rules;
}

}  // namespace ares::core
