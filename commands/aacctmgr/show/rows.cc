#include "aacctmgr/show/rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "cli/output/text.h"
#include "core/accounts/check.h"

namespace ares::aacctmgr {
namespace {

// The contents of a Snapshot in the order of the account tree.
class Tree {
 public:
  explicit Tree(const Snapshot& snapshot) {
    each_of<Account>(snapshot.records, RecordKind::account,
                     [&](const Account& account) { below_[account.parent].push_back(&account); });
    each_of<Association>(snapshot.records, RecordKind::association,
                         [&](const Association& one) { within_[one.key.account].push_back(&one); });
  }

  // Calls visit(account, association or null, depth).
  template <class Visit>
  void walk(Visit&& visit, std::string_view parent = {}, std::size_t depth = 0) const {
    const auto children = below_.find(parent);
    if (children == below_.end()) return;
    for (const Account* account : children->second) {
      visit(*account, static_cast<const Association*>(nullptr), depth);
      if (const auto users = within_.find(account->name); users != within_.end())
        for (const Association* one : users->second) visit(*account, one, depth + 1);
      walk(visit, account->name, depth + 1);
    }
  }

 private:
  std::map<std::string, std::vector<const Account*>, std::less<>> below_;
  std::map<std::string, std::vector<const Association*>, std::less<>> within_;
};

class Listing {
 public:
  Listing(const Snapshot& snapshot, const Where& where, const ListingOptions& options)
      : snapshot_(snapshot), where_(where), options_(options) {}

  Rows run(Entity entity) {
    switch (entity) {
      case Entity::account: accounts(); break;
      case Entity::user: users(); break;
      case Entity::association: associations(); break;
      case Entity::qos:
        each_of<Qos>(snapshot_.records, RecordKind::qos, [&](const Qos& qos) {
          if (chosen(where_, qos)) add().qos = &qos;
        });
        break;
      case Entity::wckey:
        each_of<Wckey>(snapshot_.records, RecordKind::wckey, [&](const Wckey& wckey) {
          if (chosen(where_, wckey)) add().wckey = &wckey;
        });
        break;
      case Entity::coordinator: coordinators(); break;
      case Entity::cluster:
        add().account = core::find_account(snapshot_.records, kRootAccount);
        break;
      case Entity::tres: tres(); break;
      case Entity::problem:
        for (std::string& text : problems(snapshot_, options_)) add().text = std::move(text);
        break;
      case Entity::transaction:
      case Entity::runaway_jobs: break;
    }
    return std::move(out_);
  }

 private:
  Row& add() {
    out_.rows.push_back({});
    out_.rows.back().snapshot = &snapshot_;
    return out_.rows.back();
  }
  void add(const Account* account, const Association* association, std::size_t depth) {
    Row& row = add();
    row.account = account;
    row.association = association;
    row.indent = options_.tree ? depth : 0;
    if (association) row.user = core::find_user(snapshot_.records, association->key.user);
  }

  void accounts() {
    Tree(snapshot_).walk([&](const Account& account, const Association* one, std::size_t depth) {
      if (chosen(where_, account) && (!one || options_.with_associations))
        add(&account, one, depth);
    });
  }

  void associations() {
    const bool of_users = where_.has(Selector::user) && !where_.matches(Selector::user, "");
    Tree(snapshot_).walk([&](const Account& account, const Association* one, std::size_t depth) {
      if (one ? chosen(where_, *one, account.parent)
              : !of_users && !where_.has(Selector::partition) && chosen(where_, account) &&
                    own_terms(account))
        add(&account, one, depth);
    });
  }
  // Whether the conditions on an association other than its names hold.
  bool own_terms(const Account& account) const {
    if (where_.has(Selector::id) &&
        !where_.matches(Selector::id, std::to_string(account.id.value())))
      return false;
    if (!where_.has(Selector::qos)) return true;
    for (const std::string& name : account.terms.qos)
      if (where_.matches(Selector::qos, name)) return true;
    return false;
  }

  void users() {
    std::map<std::string_view, std::vector<const Association*>> of;
    const bool in_some = where_.has(Selector::account) || where_.has(Selector::partition);
    if (options_.with_associations || in_some)
      each_of<Association>(snapshot_.records, RecordKind::association, [&](const Association& one) {
        if (chosen(where_, one, {})) of[one.key.user].push_back(&one);
      });
    each_of<User>(snapshot_.records, RecordKind::user, [&](const User& user) {
      if (!chosen(where_, user)) return;
      const auto own = of.find(user.name);
      if (in_some && own == of.end()) return;
      if (!options_.with_associations || own == of.end()) {
        add().user = &user;
        return;
      }
      for (const Association* one : own->second) {
        Row& row = add();
        row.user = &user;
        row.association = one;
      }
    });
  }

  void coordinators() {
    each_of<Account>(snapshot_.records, RecordKind::account, [&](const Account& account) {
      if (!where_.matches(Selector::account, account.name)) return;
      for (const std::string& name : account.coordinators) {
        if (!where_.matches(Selector::user, name)) continue;
        out_.extra_users.push_back({});
        out_.extra_users.back().name = name;
        Row& row = add();
        row.account = &account;
        row.user = &out_.extra_users.back();
      }
    });
  }

  // The built-in TRES and those that have limits.
  void tres() {
    std::set<std::string> names = {"cpu", "mem", "node", "billing", "gres/gpu"};
    const auto take = [&](const Limits& limits) {
      for (const Limit& limit : limits)
        if (!limit.tres.empty()) names.insert(limit.tres);
    };
    each_of<Account>(snapshot_.records, RecordKind::account,
                     [&](const Account& one) { take(one.terms.limits); });
    each_of<Association>(snapshot_.records, RecordKind::association,
                         [&](const Association& one) { take(one.terms.limits); });
    each_of<Qos>(snapshot_.records, RecordKind::qos, [&](const Qos& one) { take(one.limits); });
    for (const std::string& name : names) add().text = name;
  }

  const Snapshot& snapshot_;
  const Where& where_;
  const ListingOptions& options_;
  Rows out_;
};

// A job that names no QOS gets the nearest default QOS. Reports a default that the nearest list of
// allowed QOS does not contain.
void add_missing_qos(const Records& records, const Association& one,
                     std::vector<std::string>& found) {
  const core::Chain chain =
      core::chain_of(records, one.key.account, one.key.user, one.key.partition);
  const std::string name = core::default_qos(chain);
  const std::vector<std::string> allowed = core::allowed_qos(chain);
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return;
  found.push_back("jobs of user " + one.key.user + " in account " + one.key.account +
                  " that name no QOS are refused: " +
                  (name.empty() ? "there is no default QOS" : "the default QOS, " + name + ",") +
                  (name.empty() ? "; allowed are " : " is not one of those allowed, ") +
                  cli::join(allowed, ","));
}

}  // namespace

Rows rows_of(const Snapshot& snapshot, Entity entity, const Where& where,
             const ListingOptions& options) {
  return Listing(snapshot, where, options).run(entity);
}

std::vector<std::string> problems(const Snapshot& snapshot, const ListingOptions& options) {
  const Records& records = snapshot.records;
  std::set<std::string> used_accounts, users_somewhere;
  each_of<Association>(records, RecordKind::association, [&](const Association& one) {
    users_somewhere.insert(one.key.user);
    // Adds the account and its ancestors, up to the first one that is already in the set.
    for (const Account* at = core::find_account(records, one.key.account);
         at && used_accounts.insert(at->name).second;
         at = core::find_account(records, at->parent)) {
    }
  });
  std::vector<std::string> found;
  each_of<Account>(records, RecordKind::account, [&](const Account& account) {
    if (!used_accounts.contains(account.name) && account.name != kRootAccount)
      found.push_back("account " + account.name + " has no users, nor has any below it");
  });
  each_of<User>(records, RecordKind::user, [&](const User& user) {
    if (!users_somewhere.contains(user.name))
      found.push_back("user " + user.name + " is in no account");
    else if (user.default_account.empty())
      found.push_back("user " + user.name + " has no default account");
    if (options.knows_user && !options.knows_user(user.name))
      found.push_back("user " + user.name + " is not known on this machine");
  });
  each_of<Wckey>(records, RecordKind::wckey, [&](const Wckey& wckey) {
    if (!users_somewhere.contains(wckey.key.user))
      found.push_back("wckey " + wckey.key.name + " is of user " + wckey.key.user +
                      ", who is in no account");
  });
  // Reports settings that have become invalid because a record above them changed.
  records.for_each([&](const RecordKey&, const AccountingRecord& record) {
    if (Status ok = core::check_record(records, record); !ok) found.push_back(ok.error().message);
  });
  each_of<Association>(records, RecordKind::association,
                       [&](const Association& one) { add_missing_qos(records, one, found); });
  return found;
}

}  // namespace ares::aacctmgr
