#include "astat/query.h"

#include "astat/columns.h"
#include "cli/options/filter_options.h"
#include "cli/values/job_ids.h"

namespace ares::astat {

using cli::set_flag;

cli::OptionTable options(Query& query) {
  cli::OptionTable table;
  table.options = {
      {'j',
       "jobs",
       "LIST",
       "Only these jobs and arrays, of any user: 12,12_3. 12.0 and 12.batch are steps of a job.",
       [&query](const std::string& value) -> Status {
         auto ids = cli::parse_step_ids(value);
         if (!ids) return fail(ids.error());
         query.ids = std::move(*ids);
         query.filter.clear_jobs();
         cli::add_refs(query.filter.mutable_jobs(), query.ids.jobs());
         return {};
       },
       {"job"}},
      {0, "allsteps", "", "A line for each step that runs, and for the batch script.",
       set_flag(query.all_steps)},
      {'u', "user", "LIST", "Only jobs of these users. Default: your own.",
       cli::set_names(query.filter.mutable_users())},
      {'a', "allusers", "", "Jobs of all users.", set_flag(query.all_users)},
      {'N', "by-node", "", "A line for each node of a job.", set_flag(query.by_node)},
      {'o', "format", "FIELDS", "Fields to print, separated by commas; see FIELDS.",
       cli::set_text(query.format)},
      {'n', "noheader", "", "No line of headings.", set_flag(query.no_header)},
      {'p', "parsable", "", "Fields end with a |.", set_flag(query.trailing), {}, {"parsable2"}},
      {'P', "parsable2", "", "Fields are separated by a |.", set_flag(query.parsable)},
      {'e', "helpformat", "", "List the fields and stop.", set_flag(query.list_fields)}};
  cli::add_document_options(table.options, query.document, "Print the answer as JSON.");
  table.unsupported = {{'i', "pidformat", false}, {0, "noconvert", false}};
  cli::add_common_options(table, query.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "astat",
      .summary = "what running jobs use",
      .synopsis = {"[OPTIONS]"},
      .description =
          {"Prints what the processes of jobs that run have used so far and what they hold now, as "
           "their nodes told with the last heartbeat (policy.heartbeat in ares.yaml(5)); Age says "
           "how long ago that was. When a job has ended, aacct(1) tells what it used.",
           "Without options you see your own jobs, a line for each job: sums over its nodes, "
           "except "
           "for MaxRSS, which is that of the node with the most, named by MaxRSSNode.",
           "-j 12.0 and --allsteps show steps that run. Their numbers are those of the first "
           "process "
           "of each task and of its children that have ended, as the nodes counted them in the "
           "last "
           "seconds; 12.batch is what the job uses on its first node, with what its steps use "
           "there.",
           "A field is empty until the node has told it, and on nodes that count nothing: aresd(8) "
           "says under ISOLATION what a node needs for that."},
      .sections = {{"FIELDS", cli::describe_columns(columns())}},
      .examples = {{"astat", "Your jobs that run."},
                   {"astat -j 12 -N", "One job, node by node."},
                   {"astat -j 12.0", "One step."},
                   {"astat -a -P -o JobID,User,RSS,ReqMem", "All jobs, for a program."}},
      .see_also = {"aacct(1)", "aqueue(1)", "ares.yaml(5)"}};
}

}  // namespace ares::astat
