// What can be set of a record, one row each: name, text of its value, and how that is read. Setting, showing a change, the files of dump
// and load, completion and the manual page all go by these rows.
// Immutable; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aacctmgr/edit/property.h"

namespace ares::aacctmgr {

// Those of a kind; of an account and of a user in one they end with what the two have in common. A wckey has none.
const std::vector<Property>& properties(RecordKind kind);

// By name or alias in any case, or by how it begins if that is no other's. Null: not one of this kind.
const Property* find_property(RecordKind kind, std::string_view word);

Status set_property(const Property& property, AccountingRecord& record, Op op,
                    const std::string& value);

// A record as it is when nothing has been said of it.
AccountingRecord blank_record(const RecordKey& key);

// Ascending lists, each entry once.
std::vector<std::string> names_of(std::string_view text);

}  // namespace ares::aacctmgr
