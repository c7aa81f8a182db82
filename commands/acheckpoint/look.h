// acheckpoint list, verify and fetch: they change no checkpoint. Used by main() alone.
#pragma once

#include <string>
#include <vector>

#include "acheckpoint/options.h"
#include "base/result.h"

namespace ares::acheckpoint {

// Prints the checkpoints in the place, oldest first.
Result<int> list(const Wanted& wanted, const std::string& place);

// Prints for each checkpoint whether it is intact. 1 if one is not.
Result<int> verify(const Wanted& wanted, const std::vector<std::string>& uris);

// Copies the files of a checkpoint to a directory that is not there yet, if it is intact.
Result<int> fetch(const Wanted& wanted, const std::string& uri, const std::string& directory);

}  // namespace ares::acheckpoint
