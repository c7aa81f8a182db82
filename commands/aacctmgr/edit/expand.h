// From what was asked for to what the records have to become: pure functions of the records and the command line.
// Any thread.
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

// The records of which something is set when it is set of the entity; none where nothing can be.
std::vector<RecordKind> kinds_of(Entity entity);

// invalid_argument for words that mean nothing there, with a suggestion; and for what is said elsewhere (adminlevel).
Result<EditRequest> parse_edit(Verb verb, Entity entity, const Line& line);

// The records as they are to be. not_found, already_exists, invalid_argument.
Result<Records> expand(const Snapshot& snapshot, const EditRequest& edit);

// Takes away what refers to what is not there: associations, wckeys and coordinators of users who are gone, accounts below accounts
// that are, QOS that are out of lists and defaults; and a default account that is none of the user's becomes his first one, or none.
void remove_dangling_references(Records& records);

// The three verbs, of which expand() takes one.
Result<Records> expand_add(const Snapshot& snapshot, const EditRequest& edit);
Result<Records> expand_modify(const Snapshot& snapshot, const EditRequest& edit);
Result<Records> expand_remove(const Snapshot& snapshot, const EditRequest& edit);

// Sets those of the record's kind. invalid_argument, naming the record.
Status apply(const std::vector<Setting>& settings, AccountingRecord& record);

}  // namespace ares::aacctmgr
