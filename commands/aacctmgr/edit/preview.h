// Describes a change as text for the confirmation prompt. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "aacctmgr/edit/records.h"

namespace ares::aacctmgr {

// One line per record and one per changed property, for at most `most` records, then the number of
// the remaining ones. If records that jobs may refer to are removed, the text ends with the effect
// on those jobs.
std::string preview(const std::vector<Change>& changes, std::size_t most = 200);

// "2 added, 1 modified, 3 removed".
std::string count_text(const std::vector<Change>& changes);

}  // namespace ares::aacctmgr
