#include "aacctmgr/edit/records.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>

#include "core/accounts/check.h"

namespace ares::aacctmgr {
namespace {

enum class Stage { qos, accounts, users, removed_accounts, removed_qos };

Stage stage_of(const Change& change) {
  const bool is_removed = change.verb == Change::Verb::remove;
  switch (change.key.kind) {
    case RecordKind::qos: return is_removed ? Stage::removed_qos : Stage::qos;
    case RecordKind::account: return is_removed ? Stage::removed_accounts : Stage::accounts;
    case RecordKind::user:
    case RecordKind::association:
    case RecordKind::wckey: return Stage::users;
  }
  return Stage::users;
}

// Changes with the same owner text must stay in one request: all changes of one user, and all QOS,
// which may refer to each other.
std::string owner_of(const RecordKey& key) {
  switch (key.kind) {
    case RecordKind::user: return key.name;
    case RecordKind::association:
    case RecordKind::wckey: return key.user;
    case RecordKind::qos: return "all QOS";  // Not a valid user name.
    case RecordKind::account: return {};
  }
  return {};
}

// Depths of the removed accounts in the tree before the change; the deepest are removed first.
std::map<std::string, std::size_t> old_depths(const std::vector<Change>& changes) {
  std::map<std::string, std::string> parents;
  for (const Change& change : changes)
    if (stage_of(change) == Stage::removed_accounts)
      parents[change.key.name] = std::get<Account>(*change.before).parent;
  std::map<std::string, std::size_t> depths;
  for (const auto& [name, parent] : parents) {
    std::size_t depth = 0;
    for (auto at = parents.find(parent); at != parents.end() && depth < parents.size();
         at = parents.find(at->second))
      ++depth;
    depths[name] = depth;
  }
  return depths;
}

}  // namespace

void add_roots(Records& records) {
  for (AccountingRecord root :
       {AccountingRecord(core::root_account()), AccountingRecord(core::normal_qos())}) {
    const RecordKey key = key_of(root);
    if (!records.find(key)) records.set(key, std::move(root));
  }
}

std::vector<Change> changes_between(const Records& before, const Records& after) {
  std::vector<Change> changes;
  Records::diff(
      before, after,
      [&](const RecordKey& key, const AccountingRecord* was, const AccountingRecord* is) {
        if (was && is && *was == *is) return;
        Change change;
        change.verb = !was ? Change::Verb::add : !is ? Change::Verb::remove : Change::Verb::modify;
        change.key = key;
        if (was) change.before = *was;
        if (is) change.after = *is;
        changes.push_back(std::move(change));
      });
  return changes;
}

std::size_t depth_of(const Records& records, std::string_view account) {
  std::size_t depth = 0;
  for (const Account* at = core::find_account(records, account);
       at && !at->parent.empty() && depth <= records.size();
       at = core::find_account(records, at->parent))
    ++depth;
  return depth;
}

std::vector<std::vector<Change>> in_requests(std::vector<Change> changes, const Records& after,
                                             std::size_t most) {
  struct Place {
    Stage stage;
    std::int64_t depth;
    std::string owner;
    std::size_t index;
  };
  const auto going = old_depths(changes);
  std::vector<Place> places;
  places.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    const Stage stage = stage_of(change);
    std::int64_t depth = 0;
    if (stage == Stage::accounts)
      depth = static_cast<std::int64_t>(depth_of(after, change.key.name));
    if (stage == Stage::removed_accounts)
      depth = -static_cast<std::int64_t>(going.at(change.key.name));
    places.push_back({stage, depth, owner_of(change.key), i});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.stage, a.depth, a.owner, a.index) <
           std::tie(b.stage, b.depth, b.owner, b.index);
  });

  std::vector<std::vector<Change>> requests;
  for (std::size_t from = 0; from < places.size();) {
    std::size_t end = from + 1;
    if (!places[from].owner.empty())
      while (end < places.size() && places[end].owner == places[from].owner) ++end;
    if (requests.empty() || requests.back().size() + (end - from) > most) requests.emplace_back();
    for (; from < end; ++from) requests.back().push_back(std::move(changes[places[from].index]));
  }
  return requests;
}

Records first_round(const Records& before, const Records& after) {
  Records first = after;
  std::vector<Account> going, trimmed;
  std::vector<Qos> going_qos;
  bool keep = false;
  const auto is_new = [&](const std::string& user) { return !core::find_user(before, user); };
  const auto is_going = [&](const std::string& user) { return !core::find_user(after, user); };
  after.for_each([&](const RecordKey& key, const AccountingRecord& record) {
    if (key.kind != RecordKind::account) return;
    Account account = std::get<Account>(record);
    if (std::erase_if(account.coordinators, is_new) > 0) trimmed.push_back(std::move(account));
  });
  before.for_each([&](const RecordKey& key, const AccountingRecord& record) {
    if (after.find(key)) return;
    if (key.kind == RecordKind::qos) going_qos.push_back(std::get<Qos>(record));
    if (key.kind != RecordKind::account) return;
    Account account = std::get<Account>(record);
    if (std::erase_if(account.coordinators, is_going) > 0) {
      keep = true;
      // The accounts above may no longer allow its terms.
      account.terms = {};
    }
    going.push_back(std::move(account));
  });
  for (Account& account : trimmed) first.set(key_of(account), AccountingRecord(account));
  if (!keep) return first;
  for (Account& account : going) first.set(key_of(account), AccountingRecord(account));
  for (Qos& qos : going_qos) first.set(key_of(qos), AccountingRecord(qos));
  return first;
}

Records second_round(const Records& before, const Records& after, const Records& now) {
  Records target = now;
  Records::diff(before, after,
                [&](const RecordKey& key, const AccountingRecord*, const AccountingRecord* is) {
                  if (!is) {
                    target.erase(key);
                    return;
                  }
                  const AccountingRecord* at = now.find(key);
                  target.set(key, at ? with_identity(*is, *at) : *is);
                });
  return target;
}

AccountingRecord with_identity(AccountingRecord record, const AccountingRecord& before) {
  std::visit(
      [&](auto& mine) {
        const auto& other = std::get<std::remove_reference_t<decltype(mine)>>(before);
        mine.changed = other.changed;
        if constexpr (requires { mine.id; }) mine.id = other.id;
      },
      record);
  return record;
}

}  // namespace ares::aacctmgr
