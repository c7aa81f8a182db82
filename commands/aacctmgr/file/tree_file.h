// The file of dump and load: all records as YAML, accounts within accounts and users within them.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "aacctmgr/edit/records.h"
#include "base/result.h"

namespace ares::aacctmgr {

// Properties under their names, each as aacctmgr's command line has it; what is usual is left out.
std::string dump_text(const Snapshot& snapshot);

// The records that such a file holds, without ids. invalid_argument, "NAME:LINE: …": not YAML, an unknown property (with a suggestion), a
// value that cannot be read, a name given twice.
Result<Snapshot> parse_tree(const std::string& text, std::string_view name);

// What the records become by loading a file: those in it as it says, the others as they are, or removed (`clean`); the account root and the
// QOS normal always stay.
Records merged(const Records& before, const Records& file, bool clean);

}  // namespace ares::aacctmgr
