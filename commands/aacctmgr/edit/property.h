// One row of the tables of what can be set of a record. Immutable; any thread.
#pragma once

#include <functional>
#include <string>
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

}  // namespace ares::aacctmgr
