// What a change would do, in words, for whoever has to confirm it.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "aacctmgr/edit/records.h"

namespace ares::aacctmgr {

// One line for a record and one for each of its properties that changes, at most `most` records and then how many more there are.
// Ends in what becomes of jobs if something goes that jobs may name.
std::string preview(const std::vector<Change>& changes, std::size_t most = 200);

// "2 added, 1 modified, 3 removed".
std::string count_text(const std::vector<Change>& changes);

}  // namespace ares::aacctmgr
