#include "adiag/options.h"

namespace ares::adiag {

cli::OptionTable options(Query& query) {
  cli::OptionTable table;
  table.unsupported = {{'r', "reset", false},        {'i', "sort-by-id", false},
                       {'t', "sort-by-time", false}, {'T', "sort-by-time2", false},
                       {'a', "all", false},          {'M', "cluster"}};
  cli::add_common_options(table, query.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "adiag",
      .summary = "the scheduler's input, for diagnosis",
      .synopsis = {"dump-view FILE [OPTIONS]"},
      .description =
          {"dump-view writes all that the scheduler plans from into FILE (- is standard output): "
           "jobs, nodes, partitions, reservations, the policy in force, the time, and a digest of "
           "the plan that the controller makes of it. asim --view FILE plans it again, on any "
           "machine, also under another policy, and says whether the plan is the same.",
           "Nothing on the cluster changes, and no job waits for it. The dump holds the names, "
           "comments, working directories and arguments of all users' jobs, but no scripts, no "
           "environments and no secrets; FILE is made readable by its owner alone. Only operators "
           "and administrators may ask for it."},
      .examples = {{"adiag dump-view now.view", "What the scheduler sees at this moment."},
                   {"asim --view now.view --policy backfill=conservative",
                    "What it would start now with another kind of backfill."}},
      .see_also = {"asim(1)", "aqueue(1)", "ares.yaml(5)"}};
}

}  // namespace ares::adiag
