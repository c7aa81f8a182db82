#include "core/accounts/usage/usage_recount.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/accounts/usage/usage.h"

namespace ares::core {
namespace {

using fairness::Amount;

// Allows for rounding by 2^-55 for each charge and each time that usage is decayed.
bool same(Amount a, Amount b) {
  const fairness::U128 more = std::max(a.units, b.units), less = std::min(a.units, b.units);
  constexpr fairness::U128 kLeast = fairness::U128{1} << 22;  // a thousandth of a TRES-second
  return more - less <= kLeast + (more >> 30);
}

std::set<std::string> names_in(const std::map<std::string, Amount>& a,
                               const std::map<std::string, Amount>& b) {
  std::set<std::string> names;
  for (const auto* sums : {&a, &b})
    for (const auto& [tres, amount] : *sums)
      if (amount.units > 0) names.insert(tres);
  return names;
}

Amount of(const std::map<std::string, Amount>& sums, const std::string& tres) {
  const auto found = sums.find(tres);
  return found == sums.end() ? Amount{} : found->second;
}

void add_all(std::map<std::string, Amount>& to, const std::map<std::string, Amount>& more) {
  for (const auto& [tres, amount] : more) to[tres] = to[tres] + amount;
}

}  // namespace

UsageRecount::UsageRecount(const ClusterState& state, const Fairness& rules, Time at)
    : state_(state), rules_(rules), at_(at) {
  state.accounting.for_each([&](const RecordKey& key, const AccountingRecord& record) {
    const auto put = [&](AssociationId id, Seconds half_life, bool account) {
      owners_[id] = {(account ? "those who left " : "") + describe(key), half_life,
                     counted_from(state, id), account};
    };
    if (const auto* one = std::get_if<Association>(&record)) put(one->id, rules.half_life, false);
    if (const auto* account = std::get_if<Account>(&record))
      put(usage_id(*account), rules.half_life, true);
    if (const auto* qos = std::get_if<Qos>(&record))
      put(usage_id(*qos), half_life_of(*qos, rules), false);
    if (const auto* wckey = std::get_if<Wckey>(&record); wckey && wckey->id != AssociationId{})
      put(wckey->id, rules.half_life, false);
  });
}

AssociationId UsageRecount::payer(const std::string& account, const ChargedTo& charged) {
  const auto owner = owners_.find(charged.association);
  if (owner != owners_.end() && !owner->second.account_itself) return charged.association;
  // An account that was removed and created again is a different one.
  const Account* left = find_account(state_.accounting, account);
  const bool same =
      charged.account == AssociationId{} || (left && usage_id(*left) == charged.account);
  if (left && same) return usage_id(*left);
  accounts_gone_ = true;
  return AssociationId{};  // that of root itself
}

void UsageRecount::add(const std::string& account, const PastAttempt& attempt) {
  const ChargedTo& to = attempt.charged_to;
  if (to.association == AssociationId{}) return;                 // not charged to any user
  std::vector<std::pair<std::pair<Seconds, Time>, Sums>> worth;  // most often the same for all
  const auto charge = [&](AssociationId id, Time since) {
    const auto owner = owners_.find(id);
    if (owner == owners_.end()) return;
    const std::pair terms{owner->second.half_life, std::max(since, owner->second.since)};
    auto known = std::find_if(worth.begin(), worth.end(),
                              [&](const auto& one) { return one.first == terms; });
    if (known == worth.end())
      known = worth.insert(worth.end(), {terms, worth_of(attempt, at_, terms.first, terms.second)});
    add_all(sums_[id], known->second);
  };
  charge(payer(account, to), counted_from(state_, to.association));
  for (const AssociationId id : {to.qos, to.wckey, to.partition_qos})
    if (id != AssociationId{}) charge(id, Time{});
}

UsageRecount::Outcome UsageRecount::compare() const {
  Outcome out;
  const auto compare = [&](const std::string& whose, const Sums& stored, const Sums& recounted,
                           std::optional<AssociationId> id) {
    for (const std::string& tres : names_in(stored, recounted)) {
      const Amount has = of(stored, tres), should = of(recounted, tres);
      ++out.sums;
      if (same(has, should)) continue;
      out.differences.push_back(
          {whose, tres, fairness::to_double(has), fairness::to_double(should)});
      const bool take = has > should;
      const Amount by{take ? has.units - should.units : should.units - has.units};
      if (id) out.corrections.push_back({*id, tres, units_of(by), take, at_});
    }
  };
  Sums accounts_stored, accounts_recounted;
  for (const auto& [id, owner] : owners_) {
    Sums stored;
    if (const AssociationUsage* usage = state_.usage.find(id))
      for (const UsageRow& row : usage->rows)
        stored[row.tres] = all_usage_at(*usage, row.tres, at_, owner.half_life, owner.since);
    const auto recounted = sums_.find(id);
    const Sums& should = recounted == sums_.end() ? Sums{} : recounted->second;
    if (owner.account_itself && accounts_gone_) {
      add_all(accounts_stored, stored);
      add_all(accounts_recounted, should);
    } else {
      compare(owner.name, stored, should, id);
    }
  }
  if (accounts_gone_)
    compare("those who left accounts, some of which are gone", accounts_stored, accounts_recounted,
            std::nullopt);
  std::stable_sort(out.differences.begin(), out.differences.end(),
                   [](const auto& a, const auto& b) {
                     return std::abs(a.stored - a.recounted) > std::abs(b.stored - b.recounted);
                   });
  return out;
}

}  // namespace ares::core
