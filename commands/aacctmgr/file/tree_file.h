// The file format of dump and load: all records as YAML, with accounts nested in accounts and users
// nested in accounts. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "aacctmgr/edit/records.h"
#include "base/result.h"

namespace ares::aacctmgr {

// Properties have the same names and values as on aacctmgr's command line. Default values are
// omitted.
std::string dump_text(const Snapshot& snapshot);

// Parses such a file into records without ids. Returns invalid_argument, "NAME:LINE: …", for
// invalid YAML, an unknown property (with a suggestion), an unreadable value or a duplicate name.
Result<Snapshot> parse_tree(const std::string& text, std::string_view name);

// The records after loading a file: its records replace existing ones; other records stay, or are
// removed if `clean`. The root account and the QOS normal always stay.
Records merged(const Records& before, const Records& file, bool clean);

}  // namespace ares::aacctmgr
