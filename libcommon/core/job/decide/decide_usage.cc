// Usage that is reset, corrected, or moved to the account above when its record is removed.
#include <algorithm>
#include <map>
#include <set>

#include "core/accounts/usage/charge.h"
#include "core/accounts/usage/usage.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {
namespace {

constexpr std::size_t kMostCorrections = 1'000'000;

// One microsecond later than anything charged so far.
Time from_now_on(const DecisionContext& q) {
  return q.now + Duration{1};
}

Decision one_event(UsageSet event) {
  Decision d;
  d.events.emplace_back(std::move(event));
  return d;
}

// Collects changes of usage and computes their result before the event is applied.
class UsageChanges {
 public:
  UsageChanges(const ClusterState& state, const Policy& policy)
      : state_(state), half_life_(rules_of(policy).half_life) {}

  void move(AssociationId from, AssociationId to) {
    const auto moving = find(from);
    drop(from);
    if (!moving) return;
    AssociationUsage sum = find(to).value_or(AssociationUsage{});
    sum.id = to;
    // The reset stays recorded: attempts from before it are still in the accounting records.
    if (moving->since > std::max(sum.since, state_.usage_since)) {
      gone_.erase(from);
      set_[from] = reset(from, moving->since);
    }
    set_[to] = merged(std::move(sum), *moving, half_life_, state_.usage_since);
  }
  void drop(AssociationId id) {
    set_.erase(id);
    if (state_.usage.find(id)) gone_.insert(id);
  }
  UsageSet event() const {
    UsageSet event;
    for (const auto& [id, usage] : set_) event.set.push_back(usage);
    event.gone.assign(gone_.begin(), gone_.end());
    return event;
  }

 private:
  std::optional<AssociationUsage> find(AssociationId id) const {
    if (const auto changed = set_.find(id); changed != set_.end()) return changed->second;
    const AssociationUsage* before = gone_.contains(id) ? nullptr : state_.usage.find(id);
    return before ? std::optional(*before) : std::nullopt;
  }

  const ClusterState& state_;
  Seconds half_life_;
  std::map<AssociationId, AssociationUsage> set_;
  std::set<AssociationId> gone_;
};

// The account, or its nearest ancestor that still exists.
const Account* left_of(const Accounting& before, const Accounting& after, std::string name) {
  for (int level = 0; level < kDeepestAccount; ++level) {
    if (const Account* here = find_account(after, name)) return here;
    const Account* was = find_account(before, name);
    if (!was) break;
    name = was->parent;
  }
  return find_account(after, kRootAccount);
}

// Adds the usage ids of the record; for an account also those of all records below it.
Status add_named(const ClusterState& state, const RecordKey& key, std::set<AssociationId>& ids) {
  const Accounting& records = state.accounting;
  const AccountingRecord* record = records.find(key);
  if (!record) return fail(ErrorCode::not_found, "there is no " + describe(key));
  struct Named {
    const Accounting& records;
    std::set<AssociationId>& ids;
    void operator()(const Association& one) const { ids.insert(one.id); }
    void operator()(const Qos& qos) const { ids.insert(usage_id(qos)); }
    void operator()(const Wckey& wckey) const {
      if (wckey.id != AssociationId{}) ids.insert(wckey.id);
    }
    void operator()(const User&) const {}
    void operator()(const Account& top) const {
      records.for_each_from({}, [&](const RecordKey& one, const AccountingRecord& its) {
        if (const auto* account = std::get_if<Account>(&its);
            account && is_within(records, one.name, top.name))
          ids.insert(usage_id(*account));
        if (const auto* member = std::get_if<Association>(&its);
            member && is_within(records, one.name, top.name))
          ids.insert(member->id);
        return one.kind <= RecordKind::association;
      });
    }
  };
  std::visit(Named{records, ids}, *record);
  return {};
}

// The ids that have usage, or to which running jobs are charged.
std::set<AssociationId> users_of(const ClusterState& state) {
  std::set<AssociationId> ids;
  state.usage.for_each([&](AssociationId id, const AssociationUsage&) { ids.insert(id); });
  state.jobs.for_each([&](const JobKey&, const Job& job) {
    if (!job.allocation || !holds_resources(job.state)) return;
    const ChargedTo& charged = job.allocation->charged_to;
    for (const AssociationId id :
         {charged.association, charged.qos, charged.wckey, charged.partition_qos})
      if (id != AssociationId{}) ids.insert(id);
  });
  return ids;
}

// Half-lives by usage id.
std::map<AssociationId, Seconds> half_lives_of(const Accounting& records, const Fairness& rules) {
  std::map<AssociationId, Seconds> by_id;
  records.for_each([&](const RecordKey&, const AccountingRecord& record) {
    if (const auto* one = std::get_if<Association>(&record)) by_id[one->id] = rules.half_life;
    if (const auto* account = std::get_if<Account>(&record))
      by_id[usage_id(*account)] = rules.half_life;
    if (const auto* wckey = std::get_if<Wckey>(&record); wckey && wckey->id != AssociationId{})
      by_id[wckey->id] = rules.half_life;
    if (const auto* qos = std::get_if<Qos>(&record))
      by_id[usage_id(*qos)] = half_life_of(*qos, rules);
  });
  return by_id;
}

Status only_for_operators(const DecisionContext& q, const Principal& who) {
  if (is_operator(q.policy, who.uid)) return {};
  return fail(
      ErrorCode::permission_denied,
      "user " + who.user + " may not change usage: that takes an operator or administrator");
}

}  // namespace

std::optional<UsageSet> usage_left_by(const DecisionContext& q, const Accounting& after,
                                      const std::vector<RecordKey>& removed) {
  const Accounting& before = q.state.accounting;
  UsageChanges changes(q.state, q.policy);
  struct Leave {
    const Accounting &before, &after;
    UsageChanges& changes;
    void operator()(const Association& one) const {
      changes.move(one.id, usage_id(*left_of(before, after, one.key.account)));
    }
    void operator()(const Account& one) const {
      changes.move(usage_id(one), usage_id(*left_of(before, after, one.parent)));
    }
    void operator()(const Qos& one) const { changes.drop(usage_id(one)); }
    void operator()(const Wckey& one) const {
      if (one.id != AssociationId{}) changes.drop(one.id);
    }
    void operator()(const User&) const {}
  };
  for (const RecordKey& key : removed)
    if (const AccountingRecord* record = before.find(key))
      std::visit(Leave{before, after, changes}, *record);
  UsageSet event = changes.event();
  if (event.set.empty() && event.gone.empty()) return std::nullopt;
  return event;
}

Decision decide_accounting(const DecisionContext& q, const Principal& who,
                           const ResetUsage& command) {
  if (Status ok = only_for_operators(q, who); !ok)
    return refuse(ok.error().code, ok.error().message);
  UsageSet event;
  if (command.of.empty()) {
    event.since = from_now_on(q);
    return one_event(std::move(event));
  }
  std::set<AssociationId> named;
  for (const RecordKey& key : command.of)
    if (Status ok = add_named(q.state, key, named); !ok)
      return refuse(ok.error().code, ok.error().message);
  for (const AssociationId id : users_of(q.state))
    if (named.contains(id)) event.set.push_back(reset(id, from_now_on(q)));
  return event.set.empty() ? Decision{} : one_event(std::move(event));
}

std::string subject_of(const ResetUsage& command) {
  if (command.of.empty()) return "usage of all";
  std::string text = "usage of ";
  constexpr std::size_t kNamed = 8;
  for (std::size_t i = 0; i < command.of.size() && i < kNamed; ++i)
    text += (i == 0 ? "" : ", ") + describe(command.of[i]);
  if (command.of.size() > kNamed)
    text += " and " + std::to_string(command.of.size() - kNamed) + " more";
  return text;
}

Decision decide_accounting(const DecisionContext& q, const Principal& who,
                           const CorrectUsage& command) {
  if (Status ok = only_for_operators(q, who); !ok)
    return refuse(ok.error().code, ok.error().message);
  if (command.corrections.size() > kMostCorrections)
    return refuse(ErrorCode::invalid_argument, "at most " + std::to_string(kMostCorrections) +
                                                   " corrections of usage at a time");
  const Fairness& rules = rules_of(q.policy);
  const std::map<AssociationId, Seconds> half_lives = half_lives_of(q.state.accounting, rules);
  std::map<AssociationId, AssociationUsage> set;
  for (const UsageCorrection& correction : command.corrections) {
    const auto half_life = half_lives.find(correction.id);
    if (half_life == half_lives.end()) continue;  // it has been removed since
    const auto [usage, added] = set.try_emplace(correction.id);
    if (added) {
      const AssociationUsage* before = q.state.usage.find(correction.id);
      if (before) usage->second = *before;
      usage->second.id = correction.id;
    }
    usage->second = corrected(std::move(usage->second), correction, rules.calc_period,
                              half_life->second, q.state.usage_since);
  }
  if (set.empty()) return {};
  UsageSet event;
  for (auto& [id, usage] : set) event.set.push_back(std::move(usage));
  return one_event(std::move(event));
}

std::string subject_of(const CorrectUsage& command) {
  std::set<AssociationId> ids;
  for (const UsageCorrection& correction : command.corrections) ids.insert(correction.id);
  return "usage of " + std::to_string(ids.size()) + " records";
}

Decision decide_time(const DecisionContext& q, const UsagePeriod& command) {
  if (command.began <= q.state.usage_since || command.began > q.now) return {};
  // Amounts charged since then may include earlier use; in that case the period starts now.
  bool charged_since = false;
  q.state.usage.for_each([&](AssociationId, const AssociationUsage& usage) {
    charged_since = charged_since || usage.recent_at >= command.began;
  });
  UsageSet event;
  event.since = charged_since ? from_now_on(q) : command.began;
  return one_event(std::move(event));
}

}  // namespace ares::core
