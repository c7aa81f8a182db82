#include "core/accounts/membership.h"

#include <algorithm>

namespace ares::core {
namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMost ? text + ", ..." : text;
}

// Called for many waiting jobs in each pass, so it does not search the records.
Ineligible no_account(const Accounting& records, const JobSpec& spec,
                      const std::string& partition) {
  const std::string who = "user " + spec.user;
  if (spec.account.empty())
    return {Reason::invalid_account, who + " has no default account; name one with --account"};
  if (!find_account(records, spec.account))
    return {Reason::invalid_account, "there is no account " + spec.account};
  return {Reason::invalid_account,
          who + " is not in account " + spec.account + ", or not in partition " + partition};
}

std::optional<Ineligible> wrong_qos(const Accounting& records, Enforce enforce, const JobSpec& spec,
                                    const Chain& chain) {
  const std::string name = spec.qos.empty() ? std::string(kNormalQos) : spec.qos;
  const Qos* qos = find_qos(records, name);
  if (!qos) return Ineligible{Reason::invalid_qos, "there is no QOS " + name};
  if (enforce == Enforce::none) return std::nullopt;
  const std::vector<std::string> allowed = allowed_qos(chain);
  if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
    return Ineligible{Reason::invalid_qos, "user " + spec.user + " may not use QOS " + name +
                                               " in account " + spec.account + ", but " +
                                               listed(allowed)};
  if (qos->has(QosFlag::requires_reservation) && spec.reservations.empty())
    return Ineligible{Reason::invalid_qos,
                      "QOS " + name + " is for jobs in a reservation: name it with --reservation"};
  return std::nullopt;
}

}  // namespace

std::optional<Ineligible> ineligible(const Accounting& records, Enforce enforce,
                                     const JobSpec& spec, const std::string& partition) {
  if (enforce == Enforce::none && (spec.qos.empty() || records.empty())) return std::nullopt;
  Chain chain;
  if (enforce != Enforce::none) {
    chain = chain_of(records, spec.account, spec.user, partition);
    if (!chain.user) return no_account(records, spec, partition);
  }
  return wrong_qos(records, enforce, spec, chain);
}

std::optional<Ineligible> ineligible(const Accounting& records, Enforce enforce,
                                     const JobSpec& spec,
                                     const std::vector<std::string>& partitions) {
  std::optional<Ineligible> first;
  for (const std::string& partition : partitions) {
    auto problem = ineligible(records, enforce, spec, partition);
    if (!problem) return std::nullopt;
    if (!first) first = std::move(problem);
  }
  return first;
}

bool fill_account(const Accounting& records, const std::string& partition, JobSpec& spec) {
  if (records.empty() || !(spec.account.empty() || spec.qos.empty() || spec.wckey.empty()))
    return false;
  const std::string account = spec.account, qos = spec.qos, wckey = spec.wckey;
  if (const User* user = find_user(records, spec.user)) {
    if (spec.account.empty()) spec.account = user->default_account;
    if (spec.wckey.empty()) spec.wckey = user->default_wckey;
  }
  if (spec.qos.empty() && !spec.account.empty())
    spec.qos = default_qos(chain_of(records, spec.account, spec.user, partition));
  return spec.account != account || spec.qos != qos || spec.wckey != wckey;
}

std::optional<std::string> foreign_wckey(const Accounting& records, const JobSpec& spec) {
  if (records.find({RecordKind::wckey, spec.wckey, spec.user, {}})) return std::nullopt;
  std::vector<std::string> wckeys;
  records.for_each_from({RecordKind::wckey, {}, {}, {}},
                        [&](const RecordKey& key, const AccountingRecord&) {
                          if (key.user == spec.user) wckeys.push_back(key.name);
                          return key.kind == RecordKind::wckey;
                        });
  const std::string known = wckeys.empty() ? "the user has none: an operator adds one with aacctmgr"
                                           : "the user's wckeys are " + listed(wckeys);
  return (spec.wckey.empty() ? "user " + spec.user + " has no default wckey; name one with --wckey"
                             : "user " + spec.user + " has no wckey " + spec.wckey.get()) +
         "; " + known;
}

std::string accounts_text(const Accounting& records, const JobSpec& spec) {
  const std::vector<std::string> accounts = accounts_of(records, spec.user);
  if (accounts.empty())
    return "user " + spec.user + " is in no account: an operator adds the user with aacctmgr";
  if (std::find(accounts.begin(), accounts.end(), spec.account) != accounts.end())
    return "in that account the user may use other partitions only";
  return "the user's accounts are " + listed(accounts);
}

}  // namespace ares::core
