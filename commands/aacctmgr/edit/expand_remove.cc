#include <algorithm>
#include <map>
#include <set>

#include "aacctmgr/edit/expand.h"

namespace ares::aacctmgr {
namespace {

// The keys of the records to remove. Coordinators have no keys: they are part of account records.
std::vector<RecordKey> targets(const Records& records, const EditRequest& edit) {
  std::vector<RecordKey> found;
  const Where& where = edit.where;
  const auto take = [&](const auto& record) { found.push_back(key_of(record)); };
  const auto take_chosen = [&](const auto& record) {
    if (chosen(where, record)) take(record);
  };
  switch (edit.entity) {
    case Entity::account: each_of<Account>(records, RecordKind::account, take_chosen); break;
    case Entity::user:
      // Remove users from the chosen accounts only, otherwise altogether.
      if (where.has(Selector::account) || where.has(Selector::partition))
        each_chosen_association(records, where, take);
      else
        each_of<User>(records, RecordKind::user, take_chosen);
      break;
    case Entity::association: each_chosen_association(records, where, take); break;
    case Entity::qos: each_of<Qos>(records, RecordKind::qos, take_chosen); break;
    case Entity::wckey: each_of<Wckey>(records, RecordKind::wckey, take_chosen); break;
    case Entity::coordinator:
    case Entity::cluster:
    case Entity::tres:
    case Entity::problem:
    case Entity::transaction:
    case Entity::runaway_jobs: break;
  }
  return found;
}

Result<Records> without_coordinators(const Snapshot& snapshot, const Where& where) {
  if (!where.has(Selector::user))
    return invalid("name the users: delete coordinator account=ACCOUNT names=USER");
  Records records = snapshot.records;
  std::vector<Account> changed;
  each_of<Account>(snapshot.records, RecordKind::account, [&](const Account& account) {
    if (!where.matches(Selector::account, account.name)) return;
    Account copy = account;
    const auto is_chosen = [&](const std::string& user) {
      return where.matches(Selector::user, user);
    };
    if (std::erase_if(copy.coordinators, is_chosen) > 0) changed.push_back(std::move(copy));
  });
  if (changed.empty())
    return fail(ErrorCode::not_found, "no such account has one of these coordinators");
  for (Account& account : changed) {
    const RecordKey key = key_of(account);
    records.set(key, AccountingRecord(std::move(account)));
  }
  return records;
}

// One pass over the records that refer to others. Collects the records to change and the records to
// remove.
class ReferenceCleanup {
 public:
  explicit ReferenceCleanup(const Records& records) : records_(records) {}

  void run() {
    accounts();
    records_.for_each([&](const RecordKey& key, const AccountingRecord& record) {
      if (key.kind == RecordKind::association)
        association(key, std::get<Association>(record));
      else if (key.kind == RecordKind::wckey && !core::find_user(records_, key.user))
        removed.push_back(key);
      else if (key.kind == RecordKind::wckey)
        wckeys_.insert({key.user, key.name});
    });
    each_of<User>(records_, RecordKind::user, [&](const User& user) { defaults(user); });
    each_of<Qos>(records_, RecordKind::qos, [&](const Qos& one) { qos(one); });
  }

  std::vector<RecordKey> removed;
  std::vector<AccountingRecord> changed;

 private:
  // Removes accounts that are no longer connected to the root.
  void accounts() {
    std::map<std::string_view, bool> reaches_root = {{kRootAccount, true}};
    each_of<Account>(records_, RecordKind::account, [&](const Account& account) {
      std::vector<std::string_view> path;
      const Account* at = &account;
      while (at && !reaches_root.contains(at->name) && path.size() <= records_.size()) {
        path.push_back(at->name);
        at = core::find_account(records_, at->parent);
      }
      const bool rooted = at && reaches_root.at(at->name);
      for (const std::string_view name : path) reaches_root[name] = rooted;
    });
    each_of<Account>(records_, RecordKind::account, [&](const Account& account) {
      if (!reaches_root.at(account.name)) {
        removed_accounts_.insert(account.name);
        return removed.push_back(key_of(account));
      }
      Account copy = account;
      std::erase_if(copy.coordinators,
                    [&](const std::string& user) { return !core::find_user(records_, user); });
      terms(copy.terms);
      if (copy != account) changed.emplace_back(std::move(copy));
    });
  }

  void qos(const Qos& qos) {
    Qos copy = qos;
    std::erase_if(copy.preempts,
                  [&](const std::string& name) { return !core::find_qos(records_, name); });
    if (copy != qos) changed.emplace_back(std::move(copy));
  }

  void terms(Terms& terms) const {
    const auto missing = [&](const std::string& name) { return !core::find_qos(records_, name); };
    std::erase_if(terms.qos, missing);
    if (!terms.default_qos.empty() && missing(terms.default_qos)) terms.default_qos.clear();
  }

  void association(const RecordKey& key, const Association& association) {
    const std::string& account = association.key.account;
    if (!core::find_account(records_, account) || removed_accounts_.contains(account) ||
        !core::find_user(records_, association.key.user))
      return removed.push_back(key);
    accounts_of_[association.key.user].insert(account);
    Association copy = association;
    terms(copy.terms);
    if (copy != association) changed.emplace_back(std::move(copy));
  }

  void defaults(const User& user) {
    User copy = user;
    const std::set<std::string>& own = accounts_of_[user.name];
    if (!user.default_account.empty() && !own.contains(user.default_account))
      copy.default_account = own.empty() ? std::string() : *own.begin();
    if (!wckeys_.contains({user.name, user.default_wckey})) copy.default_wckey.clear();
    if (copy != user) changed.emplace_back(std::move(copy));
  }

  const Records& records_;
  std::set<std::string> removed_accounts_;
  std::map<std::string, std::set<std::string>> accounts_of_;  // by user
  std::set<std::pair<std::string, std::string>> wckeys_;      // (user, name)
};

// A default account is replaced by another one only on request: jobs that name no account would be
// charged to it. A user that keeps no account at all has no default.
Status check_default_accounts(const Records& before, const Records& after) {
  const User* first = nullptr;
  std::string other;
  std::size_t count = 0;
  each_of<User>(before, RecordKind::user, [&](const User& user) {
    const User* left = core::find_user(after, user.name);
    if (!left || left->default_account.empty() || left->default_account == user.default_account)
      return;
    if (++count > 1) return;
    first = &user;
    other = left->default_account;
  });
  if (!first) return {};
  return fail(
      ErrorCode::failed_precondition,
      "account " + first->default_account + " is the default account of user " + first->name +
          (count > 1 ? ", and that of " + std::to_string(count - 1) + " more has to change as well"
                     : "") +
          "; first give another one: modify user " + first->name + " set defaultaccount=" + other);
}

}  // namespace

void remove_dangling_references(Records& records) {
  ReferenceCleanup cleanup(records);
  cleanup.run();
  for (const RecordKey& key : cleanup.removed) records.erase(key);
  for (AccountingRecord& record : cleanup.changed) {
    const RecordKey key = key_of(record);
    records.set(key, std::move(record));
  }
}

Result<Records> expand_remove(const Snapshot& snapshot, const EditRequest& edit) {
  if (!edit.where.has_conditions())
    return invalid("say which: delete " + name_of(edit.entity) + " NAME, or where NAME=VALUE");
  if (Status ok = check_names(snapshot, edit.where); !ok) return fail(ok.error());
  if (edit.entity == Entity::coordinator) return without_coordinators(snapshot, edit.where);
  const std::vector<RecordKey> found = targets(snapshot.records, edit);
  if (found.empty())
    return fail(ErrorCode::not_found, "no " + name_of(edit.entity) + " is like that; show " +
                                          name_of(edit.entity) + " lists those there are");
  Records records = snapshot.records;
  for (const RecordKey& key : found) {
    if (key == RecordKey{RecordKind::account, std::string(kRootAccount), {}, {}})
      return invalid("root is above all accounts and cannot be deleted");
    if (key == RecordKey{RecordKind::qos, std::string(kNormalQos), {}, {}})
      return invalid("the QOS normal is that of jobs which name none and cannot be deleted");
    records.erase(key);
  }
  remove_dangling_references(records);
  if (Status kept = check_default_accounts(snapshot.records, records); !kept)
    return fail(kept.error());
  return records;
}

}  // namespace ares::aacctmgr
