// acheckpoint commit: the side of the job. Used by main() alone.
#pragma once

#include <map>
#include <string>

#include "acheckpoint/options.h"
#include "base/result.h"

namespace ares::acheckpoint {

// `directory` is the one to publish. Prints what became of it.
Result<int> commit(const Wanted& wanted, const std::string& directory,
                   std::map<std::string, std::string> fields);

}  // namespace ares::acheckpoint
