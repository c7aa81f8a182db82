#include "aresctld/account_commands.h"

#include <algorithm>
#include <string_view>

#include "aresctld/query/queries.h"
#include "core/accounts/usage/share_report.h"
#include "proto/accounts_convert.h"

namespace ares::aresctld {
namespace {

constexpr int kPage = 20'000;  // records in one answer

template <class Names>
bool asked_for(const Names& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

bool asked_for(const api::ListAccountRecords& request, const RecordKey& key) {
  if (!request.kinds().empty() &&
      std::find(request.kinds().begin(), request.kinds().end(),
                static_cast<std::uint32_t>(key.kind)) == request.kinds().end())
    return false;
  struct Matches {
    const api::ListAccountRecords& request;
    const RecordKey& key;
    bool account() const { return asked_for(request.accounts(), key.name); }
    bool user(const std::string& name) const { return asked_for(request.users(), name); }
  } matches{request, key};
  switch (key.kind) {
    case RecordKind::account: return matches.account();
    case RecordKind::user: return matches.user(key.name);
    case RecordKind::association: return matches.account() && matches.user(key.user);
    case RecordKind::qos: return true;
    case RecordKind::wckey: return matches.user(key.user);
  }
  return false;
}

}  // namespace

Result<UserBody> to_change_accounting(const api::ChangeAccounting& from) {
  ChangeAccounting to;
  proto::DecodeErrors errors;
  for (const api::AccountingChange& change : from.changes()) {
    using Verb = AccountingChange::Verb;
    Verb verb = Verb::add;
    switch (change.verb()) {
      case api::AccountingChange::ADD: break;
      case api::AccountingChange::MODIFY: verb = Verb::modify; break;
      case api::AccountingChange::REMOVE: verb = Verb::remove; break;
      default:
        return fail(ErrorCode::invalid_argument,
                    "a change this controller does not know; is the command newer than it?");
    }
    to.changes.push_back(
        {verb, proto::get(change.record(), errors), Lsn(change.record().changed())});
  }
  if (!errors.empty())
    return fail(ErrorCode::invalid_argument, "a record cannot be read: " + errors.text());
  return to;
}

Result<UserBody> to_reset_usage(const api::ResetUsage& from) {
  ResetUsage to;
  proto::DecodeErrors errors;
  for (const accounts::RecordKey& key : from.of()) to.of.push_back(proto::get(key, errors));
  if (!errors.empty())
    return fail(ErrorCode::invalid_argument, "a name cannot be read: " + errors.text());
  return to;
}

Result<api::AccountRecords> list_account_records(const View& view, const Policy& policy,
                                                 const api::ListAccountRecords& request) {
  proto::DecodeErrors errors;
  RecordKey from;
  if (request.has_after()) from = proto::get(request.after(), errors);
  if (!errors.empty()) return fail(ErrorCode::invalid_argument, errors.text());
  api::AccountRecords out;
  out.set_cluster(policy.cluster_name);
  out.set_enforce(std::string(to_string(policy.accounting.enforce)));
  RecordKey last;
  view.state->accounting.for_each_from(from,
                                       [&](const RecordKey& key, const AccountingRecord& record) {
                                         if (request.has_after() && key == from) return true;
                                         if (!asked_for(request, key)) return true;
                                         if (out.records_size() == kPage) {
                                           proto::put(last, *out.mutable_next());
                                           return false;
                                         }
                                         proto::put(record, *out.add_records());
                                         last = key;
                                         return true;
                                       });
  return out;
}

void put_parents(const View& view, api::Reported& out) {
  view.state->accounting.for_each_from({}, [&](const RecordKey&, const AccountingRecord& record) {
    const auto* account = std::get_if<Account>(&record);
    if (account && !account->parent.empty())
      (*out.mutable_parents())[account->name] = account->parent;
    return account != nullptr;  // accounts come first
  });
}

api::Shares list_shares(const View& view, const Policy& policy, const api::ListShares& request,
                        Time now) {
  const std::vector<core::ShareLine> lines = core::share_report(*view.state, policy, now);
  // The requested lines and the lines of the accounts above them.
  std::vector<bool> wanted(lines.size(), request.accounts().empty() && request.users().empty());
  std::vector<std::size_t> above;  // index of the line at each depth
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const core::ShareLine& line = lines[i];
    above.resize(line.depth);
    const bool named = line.user.empty() ? !request.accounts().empty() && request.users().empty() &&
                                               asked_for(request.accounts(), line.account)
                                         : asked_for(request.accounts(), line.account) &&
                                               asked_for(request.users(), line.user);
    if (named || wanted[i]) {
      wanted[i] = true;
      for (const std::size_t at : above) wanted[at] = true;
    }
    above.push_back(i);
  }
  api::Shares out;
  out.set_now(now.time_since_epoch().count());
  out.set_cluster(policy.cluster_name);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!wanted[i]) continue;
    const core::ShareLine& line = lines[i];
    api::ShareLine& to = *out.add_lines();
    to.set_account(line.account);
    to.set_user(line.user);
    to.set_depth(line.depth);
    if (line.shares) to.set_shares(*line.shares);
    to.set_norm_shares(line.norm_shares);
    to.set_usage(line.usage);
    to.set_norm_usage(line.norm_usage);
    to.set_effective_usage(line.effective_usage);
    if (line.level) to.set_level(*line.level);
    to.set_endless(line.endless);
    if (line.factor) to.set_factor(*line.factor);
  }
  return out;
}

}  // namespace ares::aresctld
