#include <algorithm>

#include "aacctmgr/edit/expand.h"

namespace ares::aacctmgr {
namespace {

class RecordAdder {
 public:
  RecordAdder(const Snapshot& snapshot, const EditRequest& edit)
      : records_(snapshot.records), edit_(edit) {}

  Result<Records> run() {
    Status done;
    switch (edit_.entity) {
      case Entity::account: done = accounts(); break;
      case Entity::user:
      case Entity::association: done = users(); break;
      case Entity::qos: done = plain(RecordKind::qos, names(Selector::qos), "the QOS"); break;
      case Entity::wckey: done = wckeys(names(Selector::wckey), names(Selector::user)); break;
      case Entity::coordinator: done = coordinators(); break;
      case Entity::cluster:
      case Entity::tres:
      case Entity::problem:
      case Entity::transaction:
      case Entity::runaway_jobs: done = invalid("a " + name_of(edit_.entity) + " is not added");
    }
    if (!done) return fail(done.error());
    return std::move(records_);
  }

 private:
  const std::vector<std::string>& names(Selector selector) const {
    return edit_.where.names(selector);
  }

  Status add(AccountingRecord record) {
    const RecordKey key = key_of(record);
    if (records_.find(key))
      return fail(ErrorCode::already_exists, describe(key) + " exists already; modify " +
                                                 name_of(edit_.entity) + " changes it");
    if (Status set = apply(edit_.settings, record); !set) return set;
    records_.set(key, std::move(record));
    return {};
  }

  Status plain(RecordKind kind, const std::vector<std::string>& all, const std::string& what) {
    if (all.empty()) return invalid("name " + what + " to be added");
    for (const std::string& name : all)
      if (Status done = add(blank_record({kind, name, {}, {}})); !done) return done;
    return {};
  }

  Status accounts() {
    if (names(Selector::account).empty()) return invalid("name the account to be added");
    for (const std::string& name : names(Selector::account)) {
      Account account;
      account.name = name;
      account.parent = kRootAccount;
      account.description = name;
      account.organization = name;
      if (Status done = add(std::move(account)); !done) return done;
    }
    return {};
  }

  // Adds users to accounts. A user who exists already is only added to the accounts that are new to
  // the user.
  Status users() {
    const std::vector<std::string>&all = names(Selector::user),
          &accounts = names(Selector::account);
    if (all.empty()) return invalid("name the user to be added");
    if (accounts.empty() && names(Selector::wckey).empty())
      return invalid("name the account that the user is added to: account=NAME");
    for (const std::string& user : all)
      if (Status done = one_user(user, accounts); !done) return done;
    return wckeys(names(Selector::wckey), all);
  }

  Status one_user(const std::string& name, const std::vector<std::string>& accounts) {
    const RecordKey key{RecordKind::user, name, {}, {}};
    const AccountingRecord* existing = records_.find(key);
    User user;
    user.name = name;
    if (existing) user = std::get<User>(*existing);
    if (user.default_account.empty() && !accounts.empty()) user.default_account = accounts.front();
    if (user.default_wckey.empty() && !names(Selector::wckey).empty())
      user.default_wckey = names(Selector::wckey).front();
    AccountingRecord record(std::move(user));
    if (Status set = apply(edit_.settings, record); !set) return set;
    if (!existing || *existing != record) records_.set(key, std::move(record));

    std::vector<std::string> partitions = names(Selector::partition);
    if (partitions.empty()) partitions.emplace_back();
    for (const std::string& account : accounts)
      for (const std::string& partition : partitions)
        if (Status done = add(blank_record({RecordKind::association, account, name, partition}));
            !done)
          return done;
    return {};
  }

  Status wckeys(const std::vector<std::string>& keys, const std::vector<std::string>& users) {
    if (edit_.entity == Entity::wckey && (keys.empty() || users.empty()))
      return invalid("name the wckey and its users: add wckey NAME user=USER");
    for (const std::string& key : keys)
      for (const std::string& user : users) {
        const RecordKey at{RecordKind::wckey, key, user, {}};
        if (records_.find(at) && edit_.entity != Entity::wckey) continue;
        if (Status done = add(blank_record(at)); !done) return done;
      }
    return {};
  }

  Status coordinators() {
    const std::vector<std::string>&users = names(Selector::user),
          &accounts = names(Selector::account);
    if (users.empty() || accounts.empty())
      return invalid("name both: add coordinator account=ACCOUNT names=USER");
    for (const std::string& name : accounts) {
      const RecordKey key{RecordKind::account, name, {}, {}};
      Account account = std::get<Account>(*records_.find(key));
      for (const std::string& user : users) {
        const auto at =
            std::lower_bound(account.coordinators.begin(), account.coordinators.end(), user);
        if (at == account.coordinators.end() || *at != user) account.coordinators.insert(at, user);
      }
      records_.set(key, AccountingRecord(std::move(account)));
    }
    return {};
  }

  Records records_;
  const EditRequest& edit_;
};

// The places to add to must exist; the names to add need not.
Where places(const EditRequest& edit) {
  Where where;
  const auto copy = [&](Selector selector) {
    for (const std::string& name : edit.where.names(selector)) where.add_name(selector, name);
  };
  copy(Selector::cluster);
  if (edit.entity != Entity::account) copy(Selector::account);
  if (edit.entity == Entity::coordinator || edit.entity == Entity::wckey) copy(Selector::user);
  return where;
}

}  // namespace

Result<Records> expand_add(const Snapshot& snapshot, const EditRequest& edit) {
  if (Status ok = check_names(snapshot, places(edit)); !ok) return fail(ok.error());
  return RecordAdder(snapshot, edit).run();
}

}  // namespace ares::aacctmgr
