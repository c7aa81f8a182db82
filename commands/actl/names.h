// Names known to the controller, for completion.
// Owned by the interactive mode; asks the controller at most once for each line that is typed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actl/command.h"

namespace ares::actl {

class NameCache {
 public:
  explicit NameCache(Context& context) : context_(context) {}

  // Empty while the controller does not answer: completion never complains.
  const std::vector<std::string>& of(Names names);
  void forget() { known_.clear(); }

 private:
  std::vector<std::string> fetch(Names names);

  Context& context_;
  std::map<Names, std::vector<std::string>> known_;
};

}  // namespace ares::actl
