#include "ashare/options.h"

#include "ashare/print.h"

namespace ares::ashare {

using cli::set_flag;
using cli::set_list;

cli::OptionTable options(Query& query) {
  cli::OptionTable table;
  table.options = {
      {'a', "all", "", "The lines of all users, not only your own.", set_flag(query.all)},
      {'A', "accounts", "LIST", "Only these accounts, and what is above them.",
       set_list(query.accounts)},
      {'u', "users", "LIST", "Only these users.", set_list(query.users), {}, {"all"}},
      {'U', "Users", "", "Only lines of users.", set_flag(query.users_only)},
      {'l',
       "long",
       "",
       "Also the part of all usage, and the level fair share.",
       set_flag(query.wide),
       {},
       {"format"}},
      {'o', "format", "LIST", "These fields: " + field_names() + ".", set_list(query.format)},
      {'n', "noheader", "", "No line of headings.", set_flag(query.no_header)},
      {'p', "parsable", "", "Fields end with a |.", set_flag(query.trailing), {}, {"parsable2"}},
      {'P', "parsable2", "", "Fields are separated by a |.", set_flag(query.parsable)}};
  cli::add_document_options(table.options, query.document, "Print the answer as JSON.");
  table.unsupported = {{'m', "partition", false}, {'M', "cluster"}};
  cli::add_common_options(table, query.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "ashare",
      .summary = "shares and usage of accounts and users",
      .synopsis = {"[OPTIONS]"},
      .description =
          {"Lists the tree of accounts with the shares that each has, what its jobs have used, and "
           "the resulting fair-share factor of each user: 1 for the user that comes before all "
           "others, near 0 for the last one. Without options you see the accounts and your own "
           "lines.",
           "Usage is what jobs were billed (fairness.billing_weights in ares.yaml(5)), from their "
           "allocation until everything was released, for running jobs until now. It halves with "
           "every fairness.half_life. RawUsage is in billed TRES-seconds; NormUsage is its part of "
           "all usage.",
           "By default users are ranked by Fair Tree: level by level, by LevelFS, the part an "
           "account has of its siblings' shares divided by the part it has of the parent's usage "
           "(EffectvUsage). With fairness.flags no_fair_tree the factor is that of classic fair "
           "share, and EffectvUsage the effective usage of its formula."},
      .examples = {{"ashare", "Your accounts and your factor."},
                   {"ashare -a -l", "All users, with the numbers that give the order."},
                   {"ashare -A physics -a", "One account, the users in it, and what is above."}},
      .see_also = {"aacctmgr(1)", "areport(1)", "aqueue(1)", "ares.yaml(5)"}};
}

}  // namespace ares::ashare
