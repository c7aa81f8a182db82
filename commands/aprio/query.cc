#include "aprio/query.h"

#include "cli/options/filter_options.h"

namespace ares::aprio {

using cli::set_flag;

cli::OptionTable options(Query& query) {
  cli::OptionTable table;
  table.options = {
      {'j', "jobs", "LIST", "Only these jobs and arrays: 12,12_3,12_[1-4].",
       cli::set_job_ids(query.filter.mutable_jobs())},
      {'u', "user", "LIST", "Only jobs of these users.",
       cli::set_names(query.filter.mutable_users())},
      {'p', "partition", "LIST", "Only in these partitions.",
       cli::set_names(query.filter.mutable_partitions())},
      {'n', "norm", "", "Factors from 0 to 1, before they are weighed.",
       set_flag(query.normalised)},
      {'w', "weights", "", "What each factor weighs, and no jobs.", set_flag(query.weights)},
      {'l', "long", "", "Also user, account, QOS and NICE.", set_flag(query.wide)},
      {'h', "noheader", "", "No line of headings.", set_flag(query.no_header)}};
  cli::add_document_options(table.options, query.document, "Print the answer as JSON.");
  table.unsupported = {{'o', "format"}, {'S', "sort"}, {'M', "cluster"}};
  cli::add_common_options(table, query.common, 0);
  return table;
}

cli::Manual manual() {
  return {
      .name = "aprio",
      .summary = "what the priorities of waiting jobs consist of",
      .synopsis = {"[OPTIONS]"},
      .description =
          {"Lists the jobs that wait in partitions which order by multifactor (fairness.policy in "
           "ares.yaml(5)), the highest priority first, with the points that each factor gives: the "
           "factor, from 0 to 1, times its weight. PRIORITY is their sum, at least 1, or what an "
           "operator set. A job that waits in several partitions has a line for each.",
           "Jobs that are held or wait for another job have no priority yet, and no line."},
      .examples = {{"aprio -u $USER", "Your waiting jobs."},
                   {"aprio -w", "What the factors weigh here."},
                   {"aprio -n -j 12", "The factors of one job before they are weighed."}},
      .see_also = {"ashare(1)", "aqueue(1)", "ares.yaml(5)"}};
}

}  // namespace ares::aprio
