#include "aacctmgr/edit/expand.h"

#include <algorithm>

namespace ares::aacctmgr {
namespace {

bool sets(const EditRequest& edit, RecordKind kind) {
  for (const Setting& one : edit.settings)
    if (one.kind == kind) return true;
  return false;
}

// The records to change, in their present state.
std::vector<AccountingRecord> targets(const Records& records, const EditRequest& edit) {
  std::vector<AccountingRecord> found;
  const Where& where = edit.where;
  const auto take = [&](const auto& record) { found.emplace_back(record); };
  const auto take_chosen = [&](const auto& record) {
    if (chosen(where, record)) take(record);
  };
  switch (edit.entity) {
    case Entity::account: each_of<Account>(records, RecordKind::account, take_chosen); break;
    case Entity::cluster: take(*core::find_account(records, kRootAccount)); break;
    case Entity::user:
      if (sets(edit, RecordKind::user)) each_of<User>(records, RecordKind::user, take_chosen);
      if (sets(edit, RecordKind::association)) each_chosen_association(records, where, take);
      break;
    case Entity::association: each_chosen_association(records, where, take); break;
    case Entity::qos: each_of<Qos>(records, RecordKind::qos, take_chosen); break;
    case Entity::wckey:
    case Entity::coordinator:
    case Entity::tres:
    case Entity::problem:
    case Entity::transaction:
    case Entity::runaway_jobs: break;
  }
  return found;
}

std::vector<std::string>& qos_of(AccountingRecord& record) {
  if (auto* account = std::get_if<Account>(&record)) return account->terms.qos;
  return std::get<Association>(record).terms.qos;
}

// Whether += or -= changes the list of QOS of records of this kind.
bool extends_qos(const EditRequest& edit, RecordKind kind) {
  return std::any_of(edit.settings.begin(), edit.settings.end(), [&](const Setting& one) {
    return one.kind == kind && one.op != Op::set && one.property->name == "qos";
  });
}

// += and -= change the list of QOS that is in force: without a list of its own the record begins with the one that it inherits.
Status apply_to_inherited(const Records& records, const EditRequest& edit,
                          AccountingRecord& record) {
  const RecordKey key = key_of(record);
  if (!extends_qos(edit, key.kind) || !qos_of(record).empty()) return apply(edit.settings, record);
  std::vector<std::string> inherited =
      core::allowed_qos(core::chain_of(records, key.name, key.user, key.partition));
  std::sort(inherited.begin(), inherited.end());
  qos_of(record) = inherited;
  if (Status done = apply(edit.settings, record); !done) return done;
  std::vector<std::string> own = qos_of(record);
  std::sort(own.begin(), own.end());
  if (own == inherited) qos_of(record).clear();  // nothing changed: it still inherits
  return {};
}

}  // namespace

Result<Records> expand_modify(const Snapshot& snapshot, const EditRequest& edit) {
  if (edit.entity != Entity::cluster && !edit.where.has_conditions())
    return fail(ErrorCode::invalid_argument,
                "say which: modify " + name_of(edit.entity) + " where NAME=VALUE set ...");
  if (Status ok = check_names(snapshot, edit.where); !ok) return fail(ok.error());
  std::vector<AccountingRecord> found = targets(snapshot.records, edit);
  if (found.empty())
    return fail(ErrorCode::not_found, "no " + name_of(edit.entity) + " is like that; show " +
                                          name_of(edit.entity) + " lists those there are");
  Records records = snapshot.records;
  for (AccountingRecord& record : found) {
    if (Status done = apply_to_inherited(snapshot.records, edit, record); !done)
      return fail(done.error());
    const RecordKey key = key_of(record);
    if (*records.find(key) != record) records.set(key, std::move(record));
  }
  return records;
}

}  // namespace ares::aacctmgr
