// What can be set of a record, one row each: name, text of its value, and how that is read. Setting, showing a change, the files of dump
// and load, completion and the manual page all go by these rows.
// Immutable; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aacctmgr/line.h"
#include "base/result.h"
#include "model/accounts/accounts.h"

namespace ares::aacctmgr {

struct Property {
  std::string name;                  // "fairshare", "GrpTRES"
  std::vector<std::string> aliases;  // lower case
  std::string argument;
  std::string help;
  std::string usual;  // what an unset one is, as it is shown; "" = none
  bool list = false;  // takes += and -=
  // `value` "" takes the property back. invalid_argument.
  std::function<Status(AccountingRecord&, Op, const std::string& value)> set;
  std::function<std::string(const AccountingRecord&)> get;  // "" = unset; else set() reads the same
};

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
