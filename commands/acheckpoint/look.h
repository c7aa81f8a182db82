// acheckpoint list and verify: they only read. Used by main() alone.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::acheckpoint {

// Prints the checkpoints in the directory, oldest first.
Result<int> list(const std::string& store);

// Prints for each directory whether it is intact. 1 if one is not.
Result<int> verify(const std::vector<std::string>& directories, bool quiet);

}  // namespace ares::acheckpoint
