// One row of the tables of settable properties. Immutable; any thread.
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
  std::vector<std::string> aliases;  // Lower case.
  std::string argument;
  std::string help;
  std::string usual;  // Printed value of an unset property; "" = none.
  bool list = false;  // Takes += and -=.
  // An empty `value` clears the property. Returns invalid_argument if the value is not valid.
  std::function<Status(AccountingRecord&, Op, const std::string& value)> set;
  // Text that set() parses back to the same value; "" = unset.
  std::function<std::string(const AccountingRecord&)> get;
};

}  // namespace ares::aacctmgr
