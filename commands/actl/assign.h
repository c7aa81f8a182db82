// NAME=VALUE words, the operands of `update` and `create`. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "actl/command.h"
#include "base/result.h"

namespace ares::actl {

struct Assignment {
  std::string key;  // Lower case.
  std::string value;
};

// A word without = continues the previous text (a reason, a comment), for users who omit the
// quotes. Returns invalid_argument for other such words, and for += and -=.
Result<std::vector<Assignment>> assignments(const Words& words);

// Treats `job 12 …` as `job=12 …`.
Words join_subject(Words words);

// Changes steps that run: "12.0,12.1".
Result<int> update_steps(Context& context, const std::string& ids,
                         const std::vector<Assignment>& all);

// Changes one reservation.
Result<int> update_reservations(Context& context, const std::string& name,
                                const std::vector<Assignment>& all);

}  // namespace ares::actl
