// Computes the wanted records from the current records and a command line. Pure functions; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "aacctmgr/edit/properties.h"
#include "aacctmgr/edit/records.h"
#include "aacctmgr/selection.h"

namespace ares::aacctmgr {

enum class Verb { add, modify, remove };

struct Setting {
  RecordKind kind{};
  const Property* property = nullptr;
  Op op = Op::set;
  std::string value;
};

struct EditRequest {
  Verb verb{};
  Entity entity{};
  Where where;
  std::vector<Setting> settings;
};

// The kinds of records that setting a property of the entity changes; empty if the entity has no
// properties.
std::vector<RecordKind> kinds_of(Entity entity);

// Returns invalid_argument for unknown words, with a suggestion, and for properties that are set
// elsewhere (adminlevel).
Result<EditRequest> parse_edit(Verb verb, Entity entity, const Line& line);

// Returns the records after the edit. Errors: not_found, already_exists, invalid_argument.
Result<Records> expand(const Snapshot& snapshot, const EditRequest& edit);

// Removes dangling references: associations, wckeys and coordinators of users that do not exist,
// accounts below missing accounts, and missing QOS from lists and defaults. A default account that
// the user is not in is replaced by the user's first account, or cleared.
void remove_dangling_references(Records& records);

// Implementations of the three verbs; expand() calls one of them.
Result<Records> expand_add(const Snapshot& snapshot, const EditRequest& edit);
Result<Records> expand_modify(const Snapshot& snapshot, const EditRequest& edit);
Result<Records> expand_remove(const Snapshot& snapshot, const EditRequest& edit);

// Applies the settings that belong to the record's kind. Returns invalid_argument naming the
// record.
Status apply(const std::vector<Setting>& settings, AccountingRecord& record);

}  // namespace ares::aacctmgr
