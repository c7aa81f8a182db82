// NAME=VALUE words, the language of `update` and `create`.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "actl/command.h"
#include "actl/errors.h"
#include "base/result.h"

namespace ares::actl {

struct Assignment {
  std::string key;  // lower case
  std::string value;
};

// A word without = goes on with a text before it (a reason, a comment), as it does when somebody forgets the quotes.
// invalid_argument for any other, and for += and -=.
Result<std::vector<Assignment>> assignments(const Words& words);

// `job 12 …` means the same as `job=12 …`.
Words join_subject(Words words);

// Changes one reservation.
Result<int> update_reservations(Context& context, const std::string& name,
                                const std::vector<Assignment>& all);

}  // namespace ares::actl
