// The settable properties of records, one row each: name, printed value and parser. Setting, the
// preview, dump and load files, completion and the manual page all use these rows. Immutable; any
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aacctmgr/edit/property.h"

namespace ares::aacctmgr {

// The properties of a record kind. For accounts and for users in accounts the common properties
// come last. A wckey has none.
const std::vector<Property>& properties(RecordKind kind);

// Finds a property by name or alias, ignoring case, or by an unambiguous prefix. Null if the kind
// has no such property.
const Property* find_property(RecordKind kind, std::string_view word);

Status set_property(const Property& property, AccountingRecord& record, Op op,
                    const std::string& value);

// A record with this key and default values.
AccountingRecord blank_record(const RecordKey& key);

// Splits a list of names; ascending, without duplicates.
std::vector<std::string> names_of(std::string_view text);

}  // namespace ares::aacctmgr
