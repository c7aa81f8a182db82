// Changes of accounts, users, associations, QOS and wckeys: all of a command's changes, or none.
#include <algorithm>
#include <set>

#include "core/accounts/check.h"
#include "core/accounts/limits/accrual_limits.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {
namespace {

constexpr std::size_t kMostChanges = 10'000;  // per command; all are rows of one commit
constexpr std::size_t kNamed = 8;             // are listed in the audit record

using Verb = AccountingChange::Verb;

std::string_view word(Verb verb) {
  switch (verb) {
    case Verb::add: return "add";
    case Verb::modify: return "modify";
    case Verb::remove: return "remove";
  }
  return "";
}

// The records after the changes, and the event that makes them so.
struct Outcome {
  Accounting all;
  AccountingChanged event;
};

void set_id(AccountingRecord& record, const AccountingRecord* before, std::uint64_t& next) {
  struct SetId {
    const AccountingRecord* before;
    std::uint64_t& next;
    void operator()(Account& a) const {
      a.id = before ? std::get<Account>(*before).id : AssociationId(next++);
    }
    void operator()(Association& a) const {
      a.id = before ? std::get<Association>(*before).id : AssociationId(next++);
    }
    void operator()(Qos& q) const { q.id = before ? std::get<Qos>(*before).id : QosId(next++); }
    void operator()(User&) const {}
    void operator()(Wckey& w) const {
      w.id = before ? std::get<Wckey>(*before).id : AssociationId{};
      if (w.id == AssociationId{}) w.id = AssociationId(next++);
    }
  };
  std::visit(SetId{before, next}, record);
}

// The root account and the default QOS are created with the first change.
void found_roots(Outcome& out) {
  for (AccountingRecord root : {AccountingRecord(root_account()), AccountingRecord(normal_qos())}) {
    if (out.all.find(key_of(root))) continue;
    out.event.set.push_back(root);
    const RecordKey key = key_of(root);
    out.all.set(key, std::move(root));
  }
}

Status take(const AccountingChange& change, Outcome& out) {
  AccountingRecord record = change.record;
  const RecordKey key = key_of(record);
  const AccountingRecord* before = out.all.find(key);
  if (change.verb == Verb::add && before)
    return fail(ErrorCode::already_exists, describe(key) + " exists already");
  if (change.verb != Verb::add) {
    if (!before) return fail(ErrorCode::not_found, "there is no " + describe(key));
    if (changed_at(*before) != change.seen)
      return fail(
          ErrorCode::failed_precondition,
          describe(key) + " was changed meanwhile by another user: look at it and try again");
  }
  if (change.verb == Verb::remove) {
    if ((key.kind == RecordKind::account && key.name == kRootAccount) ||
        (key.kind == RecordKind::qos && key.name == kNormalQos))
      return fail(ErrorCode::invalid_argument, describe(key) + " cannot be removed");
    out.event.removed.push_back(key);
    out.all.erase(key);
    return {};
  }
  normalise(record);
  set_id(record, before, out.event.next_record_id);
  if (before) std::visit([&](auto& r) { r.changed = changed_at(*before); }, record);
  if (before && record == *before) return {};  // nothing changes
  out.event.set.push_back(record);
  out.all.set(key, std::move(record));
  return {};
}

// --- permissions --------------------------------------------------------------------------------

class Permission {
 public:
  Permission(const Accounting& before, const Outcome& out, const ChangeAccounting& command,
             const std::string& user)
      : before_(before), out_(out), command_(command), user_(user) {}

  Status check(const AccountingChange& change) const {
    const RecordKey key = key_of(change.record);
    if (std::visit(May{*this, change.verb}, change.record)) return {};
    return fail(
        ErrorCode::permission_denied,
        "user " + user_ + " may not " + std::string(word(change.verb)) + " " + describe(key) +
            ": that takes an operator, an administrator, or a coordinator of the account above "
            "who gives no more QOS and priority than that has, and no looser limits");
  }

 private:
  struct May {
    const Permission& p;
    Verb verb;

    bool operator()(const Account& a) const {
      const Account* was = find_account(p.before_, a.name);
      if (was && !p.administers(was->parent)) return false;
      if (verb == Verb::remove) return was != nullptr;
      return p.administers(a.parent) &&
             p.gives_no_more(a.terms, was ? &was->terms : nullptr, a.parent);
    }
    bool operator()(const Association& a) const {
      if (!p.administers(a.key.account)) return false;
      if (verb == Verb::remove) return true;
      const AccountingRecord* was = p.before_.find(key_of(a));
      return p.gives_no_more(a.terms, was ? &std::get<Association>(*was).terms : nullptr,
                             a.key.account);
    }
    // A user changes their own defaults; a coordinator creates a user together with an association.
    bool operator()(const User& u) const {
      if (verb == Verb::modify) return u.name == p.user_ || p.follows_membership(u);
      return verb == Verb::add && p.changes_membership(Verb::add, u.name, nullptr);
    }
    bool operator()(const Qos&) const { return false; }
    bool operator()(const Wckey&) const { return false; }
  };

  // By the records before the command: it cannot give its own user the rights that it needs.
  bool administers(const std::string& account) const {
    return is_coordinator(before_, user_, account);
  }

  // Whether the command adds the user to an account of the caller's, or removes it from one.
  // `account`: only that one; null = any.
  bool changes_membership(Verb verb, const std::string& user, const std::string* account) const {
    return std::any_of(
        command_.changes.begin(), command_.changes.end(), [&](const AccountingChange& change) {
          const auto* a = std::get_if<Association>(&change.record);
          return a && change.verb == verb && a->key.user == user &&
                 (!account || a->key.account == *account) && administers(a->key.account);
        });
  }

  // Whether the only change of the user is that the default account goes with the last membership,
  // or comes with the first one.
  bool follows_membership(const User& u) const {
    const User* was = find_user(before_, u.name);
    if (!was) return false;
    User same = u;
    same.default_account = was->default_account;
    same.changed = was->changed;
    if (same != *was) return false;
    if (u.default_account.empty())
      return changes_membership(Verb::remove, u.name, &was->default_account);
    return was->default_account.empty() &&
           changes_membership(Verb::add, u.name, &u.default_account);
  }

  bool gives_no_more(const Terms& terms, const Terms* was, const std::string& above) const {
    if (terms.priority != (was ? was->priority : 0)) return false;
    const Chain chain = chain_of(out_.all, above, {}, {});
    for (const Limit& limit : terms.limits)
      if (!(was && std::binary_search(was->limits.begin(), was->limits.end(), limit)) &&
          loosens(chain, limit))
        return false;
    const std::vector<std::string> allowed = allowed_qos(chain);
    const auto may = [&](const std::string& qos) {
      return std::find(allowed.begin(), allowed.end(), qos) != allowed.end() ||
             (was && std::find(was->qos.begin(), was->qos.end(), qos) != was->qos.end());
    };
    return std::all_of(terms.qos.begin(), terms.qos.end(), may);
  }

  // Whether it is above the nearest limit of its kind in the chain, which it would replace.
  static bool loosens(const Chain& chain, const Limit& limit) {
    bool looser = false;
    each_terms(chain, [&](const Terms& terms, const std::string&) {
      const auto bound = limit_of(terms.limits, limit.kind, limit.tres);
      if (bound) looser = limit.value > *bound;
      return !bound;
    });
    return looser;
  }

  const Accounting& before_;
  const Outcome& out_;
  const ChangeAccounting& command_;
  const std::string& user_;
};

// Partitions are not records of accounting, but may name a QOS.
Status check_partitions(const Partitions& partitions, const std::vector<RecordKey>& removed) {
  Status ok;
  partitions.for_each([&](const std::string& name, const Partition& partition) {
    const RecordKey its{RecordKind::qos, partition.qos, {}, {}};
    if (ok && !partition.qos.empty() &&
        std::find(removed.begin(), removed.end(), its) != removed.end())
      ok = fail(ErrorCode::failed_precondition,
                "partition " + name + " still has QOS " + partition.qos +
                    "; take that from it first: actl update partition=" + name + " qos=");
  });
  return ok;
}

Decision refuse(const Error& error) {
  return core::refuse(error.code, error.message);
}

}  // namespace

std::string subject_of(const ChangeAccounting& command) {
  std::string text;
  for (std::size_t i = 0; i < command.changes.size() && i < kNamed; ++i)
    text += (i == 0 ? "" : ", ") + std::string(word(command.changes[i].verb)) + " " +
            describe(key_of(command.changes[i].record));
  if (command.changes.size() > kNamed)
    text += " and " + std::to_string(command.changes.size() - kNamed) + " more";
  return text;
}

Decision decide_accounting(const DecisionContext& q, const Principal& who,
                           const ChangeAccounting& command) {
  if (command.changes.empty() || command.changes.size() > kMostChanges)
    return core::refuse(ErrorCode::invalid_argument,
                        "a change of accounting has 1 to " + std::to_string(kMostChanges) +
                            " records; this one has " + std::to_string(command.changes.size()));
  Outcome out{q.state.accounting, {}};
  out.event.next_record_id = q.state.next_record_id;
  found_roots(out);
  std::set<RecordKey> named;
  for (const AccountingChange& change : command.changes) {
    const RecordKey key = key_of(change.record);
    if (Status ok = check_names(key); !ok) return refuse(ok.error());
    if (!named.insert(key).second)
      return core::refuse(ErrorCode::invalid_argument, describe(key) + " is changed twice at once");
    if (Status ok = take(change, out); !ok) return refuse(ok.error());
  }
  if (!is_operator(q.policy, who.uid)) {
    const Permission permission(q.state.accounting, out, command, who.user);
    for (const AccountingChange& change : command.changes)
      if (Status ok = permission.check(change); !ok) return refuse(ok.error());
  }
  for (const AccountingRecord& record : out.event.set)
    if (Status ok = check_record(out.all, record); !ok) return refuse(ok.error());
  if (Status ok = check_removed(out.all, out.event.removed); !ok) return refuse(ok.error());
  if (Status ok = check_partitions(q.state.partitions, out.event.removed); !ok)
    return refuse(ok.error());
  Decision d;
  auto left = usage_left_by(q, out.all, out.event.removed);
  if (out.event.set.empty() && out.event.removed.empty()) return d;
  d.events.emplace_back(std::move(out.event));
  if (left) d.events.emplace_back(*std::move(left));
  AccrualLimits before(q.state.accounting, q.state.partitions, q.policy),
      after(out.all, q.state.partitions, q.policy);
  for (const Accruing& kept : accruals_to_preserve(q.state, before, after, q.now))
    d.events.emplace_back(AccrualBegan{kept.key, kept.since});
  return d;
}

}  // namespace ares::core
