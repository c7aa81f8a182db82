// What a command is about: entities, and by what records of one are chosen (`where account=a,b user=ada`).
// Pure functions and values; any thread.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aacctmgr/edit/records.h"
#include "aacctmgr/line.h"

namespace ares::aacctmgr {

enum class Entity {
  account,
  user,
  association,
  qos,
  wckey,
  coordinator,
  cluster,
  tres,
  problem,
  transaction,
  runaway_jobs,
};

struct EntityRow {
  Entity entity{};
  Spelling spelling;  // the first is its name
};
const std::vector<EntityRow>& entities();
// invalid_argument with a suggestion.
Result<Entity> find_entity(std::string_view word);
std::string name_of(Entity entity);

enum class Selector {
  account,
  user,
  partition,
  qos,
  wckey,
  parent,
  default_account,
  id,
  cluster,
  start,
  end,
  action,
};

struct SelectorRow {
  Selector selector{};
  Spelling spelling;
  bool adds = false;  // says where something is added, too
};
// The first is what bare names are.
const std::vector<SelectorRow>& selectors(Entity entity);

// Whether an entity is nothing that could be added, changed or removed.
bool is_read_only(Entity entity);

// Names that a record may have, for each selector that was given.
class Where {
 public:
  void add(Selector selector, std::string_view names);
  void add_name(Selector selector, std::string name);

  bool has(Selector selector) const { return chosen_.contains(selector); }
  // Whether anything but the cluster is chosen.
  bool has_conditions() const;
  // True as well where nothing was said.
  bool matches(Selector selector, std::string_view name) const;
  // In the order in which they were typed; none where nothing was said.
  const std::vector<std::string>& names(Selector selector) const;

 private:
  struct Names {
    std::vector<std::string> typed;
    std::set<std::string, std::less<>> sorted;
  };
  std::map<Selector, Names> chosen_;
};

// The terms of a `where`, and the bare names. invalid_argument for a word that chooses nothing of the entity.
Result<Where> where_of(Entity entity, const Line& line);

// not_found where a name of `where` is of nothing there; invalid_argument where it names another cluster than this one.
Status check_names(const Snapshot& snapshot, const Where& where);

bool chosen(const Where& where, const Account& account);
bool chosen(const Where& where, const User& user);
// `parent` is that of its account.
bool chosen(const Where& where, const Association& association, std::string_view parent);
bool chosen(const Where& where, const Qos& qos);
bool chosen(const Where& where, const Wckey& wckey);

// Visits all records of type R that `where` chooses, ascending: visit(const R&).
template <class R, class Visit>
void each_of(const Records& records, RecordKind kind, Visit&& visit) {
  records.for_each_from({kind, {}, {}, {}},
                        [&](const RecordKey& key, const AccountingRecord& record) {
                          if (key.kind != kind) return false;
                          visit(std::get<R>(record));
                          return true;
                        });
}
template <class Visit>
void each_chosen_association(const Records& records, const Where& where, Visit&& visit) {
  each_of<Association>(records, RecordKind::association, [&](const Association& one) {
    const Account* account = core::find_account(records, one.key.account);
    if (chosen(where, one, account ? std::string_view(account->parent) : std::string_view()))
      visit(one);
  });
}

}  // namespace ares::aacctmgr
