// Names known to the controller, for completion. Owned by the interactive mode; sends at most one
// request per input line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actl/command.h"

namespace ares::actl {

class NameCache {
 public:
  explicit NameCache(Context& context) : context_(context) {}

  // Empty if the controller does not answer: completion ignores errors.
  const std::vector<std::string>& of(Names names);
  void forget() { known_.clear(); }

 private:
  std::vector<std::string> fetch(Names names);

  Context& context_;
  std::map<Names, std::vector<std::string>> known_;
};

}  // namespace ares::actl
