#include <algorithm>

#include "aacctmgr/edit/expand.h"
#include "base/printable.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::aacctmgr {
namespace {

constexpr const char* kWhoAdministers =
    "who is administrator or operator is said in ares.yaml (admins, operators), and who "
    "coordinates an account by add coordinator";

// Words of sacctmgr that aacctmgr does not support. They are refused by name.
bool is_unsupported(const std::string& word) {
  for (const char* name :
       {"classification", "federation", "features", "comment", "newname", "grpcpus", "grpnodes",
        "maxcpus", "maxnodes", "grpcpumins", "grpcpurunmins", "maxcpumins"})
    if (word == name) return true;
  return false;
}

Error unknown_property(Entity entity, const std::string& word) {
  const std::string typed = cli::lower(word);
  if (typed.starts_with("admin")) return {ErrorCode::invalid_argument, kWhoAdministers};
  if (typed == "rawusage")
    return {ErrorCode::invalid_argument, "usage is set to nothing by aacctmgr reset usage"};
  if (is_unsupported(typed))
    return {ErrorCode::invalid_argument,
            word + " is not supported" +
                (typed.find("cpu") != std::string::npos || typed.find("nodes") != std::string::npos
                     ? ": say it by the TRES, as in GrpTRES=cpu=100,node=4"
                     : " yet")};
  std::vector<std::string> names;
  std::vector<std::string> begun;
  for (const RecordKind kind : kinds_of(entity))
    for (const Property& row : properties(kind)) {
      names.push_back(cli::lower(row.name));
      if (names.back().starts_with(typed)) begun.push_back(row.name);
    }
  if (begun.size() > 1)
    return {ErrorCode::invalid_argument, quote(word) + " could be " + cli::join(begun, ", ")};
  if (names.empty())
    return {ErrorCode::invalid_argument, "nothing can be set of a " + name_of(entity)};
  return {ErrorCode::invalid_argument,
          "unknown " + quote(word) + " of a " + name_of(entity) + config::suggestion(typed, names)};
}

// Finds the property by its exact name, or by a prefix that matches in only one of the record
// kinds.
Result<Setting> setting_of(Entity entity, const Term& term) {
  const std::string typed = cli::lower(term.word);
  std::vector<Setting> found;
  bool ambiguous = false;
  for (const RecordKind kind : kinds_of(entity)) {
    if (const Property* property = find_property(kind, term.word)) {
      found.push_back({kind, property, term.op, term.value});
      if (cli::lower(property->name) == typed) return found.back();
    } else {
      for (const Property& row : properties(kind))
        ambiguous = ambiguous || cli::lower(row.name).starts_with(typed);
    }
  }
  if (found.size() == 1 && !ambiguous) return found[0];
  return fail(unknown_property(entity, term.word));
}

// For `add`, some words choose where to add; the others set properties.
Status merge_added(EditRequest& edit, const Line& line) {
  std::vector<Spelling> words;
  std::vector<Selector> places;
  for (const SelectorRow& one : selectors(edit.entity)) {
    if (!one.adds) continue;
    words.push_back(one.spelling);
    places.push_back(one.selector);
  }
  for (const std::string& name : line.names) edit.where.add_name(places.front(), name);
  std::vector<Term> terms = line.where;
  terms.insert(terms.end(), line.set.begin(), line.set.end());
  for (const Term& term : terms) {
    if (const auto place = match_word(term.word, words, ""); place) {
      if (term.op != Op::set) return invalid(term.word + " takes =");
      if (cli::trim(term.value).empty()) return invalid(term.word + "= names nothing");
      edit.where.add(places[*place], term.value);
      continue;
    }
    auto setting = setting_of(edit.entity, term);
    if (!setting) return fail(setting.error());
    edit.settings.push_back(std::move(*setting));
  }
  return {};
}

}  // namespace

std::vector<RecordKind> kinds_of(Entity entity) {
  switch (entity) {
    case Entity::account:
    case Entity::cluster: return {RecordKind::account};
    case Entity::user: return {RecordKind::user, RecordKind::association};
    case Entity::association: return {RecordKind::association};
    case Entity::qos: return {RecordKind::qos};
    case Entity::wckey:
    case Entity::coordinator:
    case Entity::tres:
    case Entity::problem:
    case Entity::transaction:
    case Entity::runaway_jobs: break;
  }
  return {};
}

Result<EditRequest> parse_edit(Verb verb, Entity entity, const Line& line) {
  EditRequest edit{verb, entity, {}, {}};
  if (is_read_only(entity)) return invalid("a " + name_of(entity) + " is only shown");
  const bool modifies = verb == Verb::modify;
  if (modifies && kinds_of(entity).empty())
    return invalid("a " + name_of(entity) + " is added and deleted, not modified");
  if (!modifies && entity == Entity::cluster)
    return invalid("there is one cluster, the controller's own; it is neither added nor deleted");
  if (verb == Verb::add) {
    if (Status taken = merge_added(edit, line); !taken) return fail(taken.error());
    return edit;
  }
  auto where = where_of(entity, line);
  if (!where) return fail(where.error());
  edit.where = std::move(*where);
  if (modifies && line.set.empty())
    return invalid("modify what? modify " + name_of(entity) + " where NAME=VALUE set NAME=VALUE");
  if (!modifies && line.has_set) return invalid("delete takes no set");
  for (const Term& term : line.set) {
    auto setting = setting_of(entity, term);
    if (!setting) return fail(setting.error());
    edit.settings.push_back(std::move(*setting));
  }
  return edit;
}

Status apply(const std::vector<Setting>& settings, AccountingRecord& record) {
  const RecordKey key = key_of(record);
  for (const Setting& one : settings) {
    if (one.kind != key.kind) continue;
    if (Status done = set_property(*one.property, record, one.op, one.value); !done)
      return fail(done.error().code, describe(key) + ": " + done.error().message);
  }
  return {};
}

Result<Records> expand(const Snapshot& snapshot, const EditRequest& edit) {
  switch (edit.verb) {
    case Verb::add: return expand_add(snapshot, edit);
    case Verb::modify: return expand_modify(snapshot, edit);
    case Verb::remove: return expand_remove(snapshot, edit);
  }
  return fail(ErrorCode::internal, "no such verb");
}

}  // namespace ares::aacctmgr
