// The objects of a command: entities, and the conditions that choose records (`where account=a,b
// user=ada`). Pure functions and values; any thread.
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
  Spelling spelling;  // The first spelling is the name.
};
const std::vector<EntityRow>& entities();
// Returns invalid_argument with a suggestion for an unknown word.
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
  bool adds = false;  // Also chooses where `add` adds something.
};
// The first selector applies to names without a selector.
const std::vector<SelectorRow>& selectors(Entity entity);

// Whether the entity can only be shown.
bool is_read_only(Entity entity);

// The chosen names for each selector that was given.
class Where {
 public:
  void add(Selector selector, std::string_view names);
  void add_name(Selector selector, std::string name);

  bool has(Selector selector) const { return chosen_.contains(selector); }
  // Whether there is a condition other than the cluster.
  bool has_conditions() const;
  // Also true if the selector was not given.
  bool matches(Selector selector, std::string_view name) const;
  // In the order typed; empty if the selector was not given.
  const std::vector<std::string>& names(Selector selector) const;

 private:
  struct Names {
    std::vector<std::string> typed;
    std::set<std::string, std::less<>> sorted;
  };
  std::map<Selector, Names> chosen_;
};

// Builds the conditions from the terms of `where` and the names without a selector. Returns
// invalid_argument for a word that is not a selector of the entity.
Result<Where> where_of(Entity entity, const Line& line);

// Returns not_found if a name in `where` does not exist, and invalid_argument if it names another
// cluster.
Status check_names(const Snapshot& snapshot, const Where& where);

bool chosen(const Where& where, const Account& account);
bool chosen(const Where& where, const User& user);
// `parent` is the parent of the association's account.
bool chosen(const Where& where, const Association& association, std::string_view parent);
bool chosen(const Where& where, const Qos& qos);
bool chosen(const Where& where, const Wckey& wckey);

// Calls visit(const R&) for every record of type R that matches `where`, ascending.
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
