// The options of acheckpoint. Owned by main(); plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "checkpoint/digest.h"
#include "cli/options/common_options.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::acheckpoint {

struct Wanted {
  std::string step;     // --step, as given
  Seconds timeout{30};  // --timeout
  bool quiet = false;
  std::optional<checkpoint::Digest> digest;  // --sha256
  cli::CommonOptions common;
};

cli::OptionTable options(Wanted& wanted);
cli::Manual manual();

// The fields of `commit`: --step and the operands KEY=VALUE. An error names the one that is wrong.
Result<std::map<std::string, std::string>> fields_of(const Wanted& wanted,
                                                     const std::vector<std::string>& operands);

}  // namespace ares::acheckpoint
