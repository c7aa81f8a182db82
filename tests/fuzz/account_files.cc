// Files of aacctmgr dump and load: what was read and dumped is read as the same records.
#include "aacctmgr/edit/records.h"
#include "aacctmgr/file/tree_file.h"
#include "fuzz/target.h"

namespace ares::fuzz {

const Allowance kAllowance{4 << 20, 64 << 10};

void try_input(std::string_view input) {
  using namespace aacctmgr;
  const auto read = parse_tree(std::string(input), "tree.yaml");
  if (!read) return require_refusal(read.error());
  const std::string text = dump_text(*read);
  const auto again = parse_tree(text, "tree.yaml");
  require(again.has_value(), "a dump is a file to load: " + (again ? "" : again.error().message));
  require(dump_text(*again) == text, "a dump survives loading");
  require(changes_between(read->records, again->records).empty(), "loading a dump changes nothing");
  (void)merged(read->records, again->records, true);
}

}  // namespace ares::fuzz
