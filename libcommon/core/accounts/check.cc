#include "core/accounts/check.h"

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "core/accounts/limits/job_limits.h"
#include "model/job/text_check.h"

namespace ares::core {
namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxList = 1000;  // QOS, coordinators, limits of a record
constexpr std::uint64_t kMostLimit = 1'000'000'000'000'000'000;  // leaves room for sums
constexpr std::uint64_t kMostMinutes = 100'000'000'000'000;  // less than unlimited time counts as
constexpr std::uint32_t kMostFactor = 1'000'000;             // thousandths
constexpr Seconds kLongest{366 * 86'400};                    // of exempt and grace times

Error bad(const RecordKey& key, std::string why) {
  return {ErrorCode::invalid_argument, describe(key) + ": " + std::move(why)};
}

bool is_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '@' || c == '+';
  };
  return !name.empty() && name.size() <= kMaxName && name.front() != '-' && name.front() != '+' &&
         std::all_of(name.begin(), name.end(), good);
}

template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

Status check_limits(const RecordKey& key, const Limits& limits, bool qos) {
  if (limits.size() > kMaxList) return fail(bad(key, "it has too many limits"));
  const Limit* before = nullptr;
  for (const Limit& limit : limits) {
    const LimitRow& row = row_of(limit.kind);
    const std::string name(row.name);
    if (!(qos ? row.qos : row.association))
      return fail(bad(key, name + " is a limit of " +
                               (qos ? "accounts and users, not of a QOS"
                                    : "a QOS, not of accounts and users")));
    const bool of_tres = row.unit == LimitUnit::tres || row.unit == LimitUnit::tres_minutes;
    if (of_tres && !is_limited_tres(limit.tres))
      return fail(bad(key, name + ": " + quote(limit.tres) +
                               " is nothing that can be limited; cpu, mem, node, billing, "
                               "gres/gpu, gres/gpu:TYPE and license/NAME can"));
    if (!of_tres && !limit.tres.empty()) return fail(bad(key, name + " is of no TRES"));
    const bool minutes = row.unit == LimitUnit::minutes || row.unit == LimitUnit::tres_minutes;
    if (limit.value > (minutes ? kMostMinutes : kMostLimit))
      return fail(bad(key, name + " is too large"));
    if (before && before->kind == limit.kind && before->tres == limit.tres)
      return fail(bad(key, name + (of_tres ? "=" + limit.tres : "") + " is given twice"));
    before = &limit;
  }
  return {};
}

Status check_terms(const Accounting& all, const RecordKey& key, const Terms& terms,
                   const Chain& chain) {
  if (Status ok = check_limits(key, terms.limits, false); !ok) return ok;
  if (terms.qos.size() > kMaxList) return fail(bad(key, "it has too many QOS"));
  for (const std::string& name : terms.qos)
    if (!find_qos(all, name)) return fail(bad(key, "there is no QOS " + name));
  if (terms.default_qos.empty()) return {};
  if (!find_qos(all, terms.default_qos))
    return fail(bad(key, "there is no QOS " + terms.default_qos + " to be its default"));
  const std::vector<std::string> allowed = allowed_qos(chain);
  if (std::find(allowed.begin(), allowed.end(), terms.default_qos) == allowed.end())
    return fail(
        bad(key, "its default QOS " + terms.default_qos + " is not one of those it may use"));
  return {};
}

struct Check {
  const Accounting& all;
  const RecordKey& key;

  Status operator()(const Account& a) const {
    if (Status ok = check_plain(describe(key) + ": description", a.description); !ok) return ok;
    if (Status ok = check_plain(describe(key) + ": organization", a.organization); !ok) return ok;
    const bool root = a.name == kRootAccount;
    if (root != a.parent.empty())
      return fail(bad(key, root ? "it is above all accounts and below none"
                                : "it needs an account above it; root is above all"));
    if (!root && !find_account(all, a.parent))
      return fail(bad(key, "there is no account " + a.parent + " for it to be below"));
    if (!root && !is_within(all, a.name, kRootAccount))
      return fail(bad(key, "it would be above itself, or more than " +
                               std::to_string(kDeepestAccount) + " levels below root"));
    if (a.coordinators.size() > kMaxList) return fail(bad(key, "it has too many coordinators"));
    for (const std::string& name : a.coordinators)
      if (!find_user(all, name))
        return fail(bad(key, "its coordinator " + name + " does not exist; add the user first"));
    return check_terms(all, key, a.terms, chain_of(all, a.name, {}, {}));
  }

  Status operator()(const User& u) const {
    if (!u.default_account.empty() && !is_member(u.default_account, u.name))
      return fail(bad(key, "the default account " + u.default_account +
                               " is not one of the user's accounts; add the user to it first"));
    if (!u.default_wckey.empty() && !all.find({RecordKind::wckey, u.default_wckey, u.name, {}}))
      return fail(
          bad(key, "the default wckey " + u.default_wckey + " is not one of the user's wckeys"));
    return {};
  }

  Status operator()(const Association& a) const {
    if (!find_account(all, a.key.account))
      return fail(bad(key, "there is no account " + a.key.account));
    if (!find_user(all, a.key.user)) return fail(bad(key, "there is no user " + a.key.user));
    Chain chain = chain_of(all, a.key.account, {}, {});
    chain.user = &a;
    return check_terms(all, key, a.terms, chain);
  }

  Status operator()(const Qos& q) const {
    if (Status ok = check_plain(describe(key) + ": description", q.description); !ok) return ok;
    std::uint32_t known = 0;
    for (const QosFlagRow& row : qos_flag_table()) known |= static_cast<std::uint32_t>(row.flag);
    if ((q.flags & ~known) != 0)
      return fail(bad(key, "it has a flag that this controller does not know"));
    if (q.usage_factor > kMostFactor) return fail(bad(key, "its usage factor is above 1000"));
    if (q.limit_factor > kMostFactor) return fail(bad(key, "its limit factor is above 1000"));
    if (q.limit_factor == 0)
      return fail(bad(key, "a limit factor of 0 would let none of its jobs start"));
    if (q.usage_threshold > 1000)
      return fail(bad(key, "its usage threshold is above 1, the largest fair share there is"));
    for (const auto& length : {q.preempt_exempt, q.grace})
      if (length && (*length < Seconds{0} || *length > kLongest))
        return fail(bad(key, "PreemptExemptTime and GraceTime are from nothing to a year"));
    if (Status ok = check_preempts(q); !ok) return ok;
    if (q.has(QosFlag::relative))
      for (const Limit& limit : q.limits)
        if (row_of(limit.kind).unit == LimitUnit::tres && limit.value > 100)
          return fail(bad(key, std::string(row_of(limit.kind).name) + "=" + limit.tres +
                                   " is more than 100 %, and it is Relative"));
    return check_limits(key, q.limits, true);
  }

  Status operator()(const Wckey& w) const {
    if (!find_user(all, w.key.user)) return fail(bad(key, "there is no user " + w.key.user));
    return {};
  }

  // All QOS that it preempts exist and none preempts it in turn: jobs would end each other forever.
  Status check_preempts(const Qos& q) const {
    if (q.preempts.size() > kMaxList) return fail(bad(key, "it preempts too many QOS"));
    for (const std::string& name : q.preempts)
      if (!find_qos(all, name)) return fail(bad(key, "there is no QOS " + name + " to preempt"));
    std::set<std::string> seen(q.preempts.begin(), q.preempts.end());
    std::vector<std::string> next = q.preempts;
    while (!next.empty()) {
      const Qos* one = find_qos(all, next.back());
      next.pop_back();
      if (one && one->name == q.name)
        return fail(bad(key, "it would preempt itself, by way of the QOS that it preempts"));
      if (!one) continue;
      for (const std::string& name : one->preempts)
        if (seen.insert(name).second) next.push_back(name);
    }
    return {};
  }

  // Whether the user has an association with the account, for at least one partition.
  bool is_member(const std::string& account, const std::string& user) const {
    bool found = false;
    all.for_each_from({RecordKind::association, account, user, {}}, [&](const RecordKey& at,
                                                                        const AccountingRecord&) {
      found = at.kind == RecordKind::association && at.name == account && at.user == user;
      return false;
    });
    return found;
  }
};

// Removed records that other records may refer to.
struct Gone {
  std::set<std::string, std::less<>> accounts, users, qos;
  std::set<std::pair<std::string, std::string>> members;  // (user, account)
  std::set<std::pair<std::string, std::string>> wckeys;   // (user, name)
};

Status refers(const RecordKey& who, const std::string& to) {
  return fail(ErrorCode::failed_precondition,
              describe(who) + " still refers to " + to + "; change or remove that as well");
}

Status check_terms(const RecordKey& key, const Terms& terms, const Gone& gone) {
  for (const std::string& name : terms.qos)
    if (gone.qos.contains(name)) return refers(key, "QOS " + name);
  if (gone.qos.contains(terms.default_qos)) return refers(key, "QOS " + terms.default_qos);
  return {};
}

struct StillRefers {
  const Accounting& all;
  const Gone& gone;
  const RecordKey& key;

  Status operator()(const Account& a) const {
    if (gone.accounts.contains(a.parent)) return refers(key, "account " + a.parent);
    for (const std::string& name : a.coordinators)
      if (gone.users.contains(name)) return refers(key, "user " + name + ", its coordinator");
    return check_terms(key, a.terms, gone);
  }
  Status operator()(const User& u) const {
    if (gone.members.contains({u.name, u.default_account}) ||
        gone.wckeys.contains({u.name, u.default_wckey}))
      return std::visit(Check{all, key}, AccountingRecord(u));
    return {};
  }
  Status operator()(const Association& a) const {
    if (gone.accounts.contains(a.key.account)) return refers(key, "account " + a.key.account);
    if (gone.users.contains(a.key.user)) return refers(key, "user " + a.key.user);
    return check_terms(key, a.terms, gone);
  }
  Status operator()(const Qos& q) const {
    for (const std::string& name : q.preempts)
      if (gone.qos.contains(name)) return refers(key, "QOS " + name);
    return {};
  }
  Status operator()(const Wckey& w) const {
    return gone.users.contains(w.key.user) ? refers(key, "user " + w.key.user) : Status{};
  }
};

}  // namespace

Account root_account() {
  Account root;
  root.name = kRootAccount;
  root.id = kRootAssociation;
  root.description = "the cluster";
  return root;
}

Qos normal_qos() {
  Qos normal;
  normal.name = kNormalQos;
  normal.id = kNormalQosId;
  normal.description = "of jobs that name no other";
  return normal;
}

Status check_names(const RecordKey& key) {
  for (const std::string* name : {&key.name, &key.user, &key.partition}) {
    const bool wanted = name == &key.name ||
                        (name == &key.user &&
                         (key.kind == RecordKind::association || key.kind == RecordKind::wckey));
    if ((name->empty() && !wanted) || is_name(*name)) continue;
    return fail(ErrorCode::invalid_argument,
                "the name of an account, a user, a partition, a QOS or a wckey has 1 to " +
                    std::to_string(kMaxName) +
                    " letters, digits, or any of _ - . @ +, and begins with none of - and +");
  }
  return {};
}

void normalise(AccountingRecord& record) {
  const auto terms = [](Terms& t) {
    sort_unique(t.qos);
    std::sort(t.limits.begin(), t.limits.end());
  };
  if (auto* a = std::get_if<Account>(&record)) sort_unique(a->coordinators), terms(a->terms);
  if (auto* a = std::get_if<Association>(&record)) terms(a->terms);
  if (auto* q = std::get_if<Qos>(&record))
    std::sort(q->limits.begin(), q->limits.end()), sort_unique(q->preempts);
}

bool is_limited_tres(std::string_view name) {
  constexpr std::string_view kPlain[] = {"cpu", "mem", "node", "billing", "gres/gpu"};
  if (std::find(std::begin(kPlain), std::end(kPlain), name) != std::end(kPlain)) return true;
  for (const std::string_view prefix : {"gres/gpu:", "license/"})
    if (name.starts_with(prefix)) return is_name(name.substr(prefix.size()));
  return false;
}

Status check_record(const Accounting& all, const AccountingRecord& record) {
  return std::visit(Check{all, key_of(record)}, record);
}

Status check_removed(const Accounting& all, const std::vector<RecordKey>& removed) {
  if (removed.empty()) return {};
  Gone gone;
  for (const RecordKey& key : removed) switch (key.kind) {
      case RecordKind::account: gone.accounts.insert(key.name); break;
      case RecordKind::user: gone.users.insert(key.name); break;
      case RecordKind::association: gone.members.emplace(key.user, key.name); break;
      case RecordKind::qos: gone.qos.insert(key.name); break;
      case RecordKind::wckey: gone.wckeys.emplace(key.user, key.name); break;
    }
  Status ok;
  all.for_each_from({}, [&](const RecordKey& key, const AccountingRecord& record) {
    ok = std::visit(StillRefers{all, gone, key}, record);
    return ok.has_value();
  });
  return ok;
}

}  // namespace ares::core
