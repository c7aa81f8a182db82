#include "aacctmgr/selection.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::aacctmgr {
namespace {

std::string name_of(Selector selector) {
  switch (selector) {
    case Selector::account: return "account";
    case Selector::user: return "user";
    case Selector::partition: return "partition";
    case Selector::qos: return "qos";
    case Selector::wckey: return "wckey";
    case Selector::parent: return "parent";
    case Selector::default_account: return "defaultaccount";
    case Selector::id: return "id";
    case Selector::cluster: return "cluster";
    case Selector::start: return "start";
    case Selector::end: return "end";
    case Selector::action: return "action";
  }
  return "";
}

// A `subject` row also accepts the spellings of `name=`.
SelectorRow row(Selector selector, bool adds, bool subject = false) {
  SelectorRow made{selector, {{name_of(selector), name_of(selector) + "s"}}, adds};
  if (selector == Selector::account) made.spelling.names.push_back("acct");
  if (selector == Selector::user && !adds) made.spelling.names.push_back("actor");
  if (selector == Selector::qos) made.spelling.names = {"qos", "qoslevel"};
  if (subject)
    for (const char* name : {"name", "names"}) made.spelling.names.push_back(name);
  return made;
}

std::vector<std::string> all_names(const Records& records, RecordKind kind) {
  std::set<std::string> names;
  records.for_each_from({kind, {}, {}, {}}, [&](const RecordKey& key, const AccountingRecord&) {
    if (key.kind == kind) names.insert(key.name);
    return key.kind == kind;
  });
  return {names.begin(), names.end()};
}

Status need(const Snapshot& snapshot, RecordKind kind, const char* what,
            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.empty() || snapshot.records.find({kind, name, {}, {}})) continue;
    return fail(ErrorCode::not_found,
                std::string("there is no ") + what + " " + name +
                    config::suggestion(name, all_names(snapshot.records, kind)));
  }
  return {};
}

}  // namespace

const std::vector<EntityRow>& entities() {
  static const std::vector<EntityRow> rows = {
      {Entity::account, {{"account", "accounts", "acct", "accts"}}},
      {Entity::user, {{"user", "users"}}},
      {Entity::association, {{"association", "associations"}}},
      {Entity::qos, {{"qos"}}},
      {Entity::wckey, {{"wckey", "wckeys"}}},
      {Entity::coordinator, {{"coordinator", "coordinators"}}},
      {Entity::cluster, {{"cluster", "clusters"}}},
      {Entity::tres, {{"tres"}}},
      {Entity::problem, {{"problem", "problems"}}},
      {Entity::transaction, {{"transaction", "transactions", "txn"}}},
      {Entity::runaway_jobs, {{"runawayjobs", "runawayjob"}}},
  };
  return rows;
}

Result<Entity> find_entity(std::string_view word) {
  static const std::vector<Spelling> words = [] {
    std::vector<Spelling> spellings;
    for (const EntityRow& one : entities()) spellings.push_back(one.spelling);
    return spellings;
  }();
  for (const char* other : {"archive", "event", "federation", "resource", "reservation", "stats",
                            "job", "config", "instance"})
    if (cli::lower(word) == other) return invalid(std::string(other) + " is not supported yet");
  const auto found = match_word(word, words, "unknown entity");
  if (!found) return fail(found.error());
  return entities()[*found].entity;
}

std::string name_of(Entity entity) {
  for (const EntityRow& one : entities())
    if (one.entity == entity) return one.spelling.names.front();
  return "";
}

const std::vector<SelectorRow>& selectors(Entity entity) {
  using enum Selector;
  static const std::vector<SelectorRow> none;
  static const std::map<Entity, std::vector<SelectorRow>> all = {
      {Entity::account, {row(account, true, true), row(parent, false), row(cluster, true)}},
      {Entity::user,
       {row(user, true, true), row(account, true), row(partition, true),
        row(default_account, false), row(wckey, true), row(cluster, true)}},
      {Entity::association,
       {row(user, true), row(account, true), row(partition, true), row(parent, false),
        row(qos, false), row(id, false), row(cluster, true)}},
      {Entity::qos, {row(qos, true, true), row(id, false)}},
      {Entity::wckey, {row(wckey, true, true), row(user, true), row(cluster, true)}},
      {Entity::coordinator, {row(user, true, true), row(account, true), row(cluster, true)}},
      {Entity::cluster, {row(cluster, true, true)}},
      {Entity::transaction,
       {row(action, false), row(user, false), row(start, false), row(end, false)}},
  };
  const auto found = all.find(entity);
  return found == all.end() ? none : found->second;
}

bool is_read_only(Entity entity) {
  return entity == Entity::transaction || selectors(entity).empty();
}

void Where::add(Selector selector, std::string_view names) {
  chosen_.try_emplace(selector);
  for (const std::string& piece : cli::split(names, ','))
    add_name(selector, std::string(cli::trim(piece)));
  if (cli::trim(names).empty()) add_name(selector, {});
}

void Where::add_name(Selector selector, std::string name) {
  Names& all = chosen_[selector];
  if (all.sorted.insert(name).second) all.typed.push_back(std::move(name));
}

bool Where::has_conditions() const {
  return chosen_.size() > (has(Selector::cluster) ? 1u : 0u);
}

bool Where::matches(Selector selector, std::string_view name) const {
  const auto found = chosen_.find(selector);
  return found == chosen_.end() || found->second.sorted.contains(name);
}

const std::vector<std::string>& Where::names(Selector selector) const {
  static const std::vector<std::string> none;
  const auto found = chosen_.find(selector);
  return found == chosen_.end() ? none : found->second.typed;
}

Result<Where> where_of(Entity entity, const Line& line) {
  const std::vector<SelectorRow>& rows = selectors(entity);
  std::vector<Spelling> words;
  for (const SelectorRow& one : rows) words.push_back(one.spelling);
  Where where;
  if (!line.names.empty() && rows.empty())
    return invalid("unexpected " + quote(line.names.front()) + " behind " + name_of(entity));
  for (const std::string& name : line.names) where.add_name(rows.front().selector, name);
  for (const Term& term : line.where) {
    const auto found = match_word(term.word, words, name_of(entity) + "s are not chosen by");
    if (!found) return fail(found.error());
    if (term.op != Op::set) return invalid(term.word + " takes = where something is chosen");
    where.add(rows[*found].selector, term.value);
  }
  return where;
}

Status check_names(const Snapshot& snapshot, const Where& where) {
  for (const std::string& cluster : where.names(Selector::cluster))
    if (cluster != snapshot.cluster)
      return invalid("this controller's cluster is " + snapshot.cluster + ", not " + cluster +
                     "; --config or $ARES_CONF says which controller is asked");
  if (Status ok = need(snapshot, RecordKind::account, "account", where.names(Selector::account));
      !ok)
    return ok;
  if (Status ok = need(snapshot, RecordKind::user, "user", where.names(Selector::user)); !ok)
    return ok;
  return need(snapshot, RecordKind::qos, "QOS", where.names(Selector::qos));
}

bool chosen(const Where& where, const Account& account) {
  return where.matches(Selector::account, account.name) &&
         where.matches(Selector::parent, account.parent);
}

bool chosen(const Where& where, const User& user) {
  return where.matches(Selector::user, user.name) &&
         where.matches(Selector::default_account, user.default_account);
}

bool chosen(const Where& where, const Association& association, std::string_view parent) {
  const bool has_qos =
      !where.has(Selector::qos) ||
      std::any_of(association.terms.qos.begin(), association.terms.qos.end(),
                  [&](const std::string& name) { return where.matches(Selector::qos, name); });
  return has_qos && where.matches(Selector::user, association.key.user) &&
         where.matches(Selector::account, association.key.account) &&
         where.matches(Selector::partition, association.key.partition) &&
         where.matches(Selector::parent, parent) &&
         (!where.has(Selector::id) ||
          where.matches(Selector::id, std::to_string(association.id.value())));
}

bool chosen(const Where& where, const Qos& qos) {
  return where.matches(Selector::qos, qos.name) &&
         (!where.has(Selector::id) || where.matches(Selector::id, std::to_string(qos.id.value())));
}

bool chosen(const Where& where, const Wckey& wckey) {
  return where.matches(Selector::wckey, wckey.key.name) &&
         where.matches(Selector::user, wckey.key.user);
}

}  // namespace ares::aacctmgr
