#include "abcast/options.h"

namespace ares::abcast {

cli::OptionTable options(Wanted& wanted) {
  cli::OptionTable table;
  table.environment_prefix = "ABCAST_";
  table.options = {
      {'f', "force", "", "Replace files that exist.", cli::set_flag(wanted.force)},
      {'p', "preserve", "", "Keep the mode and the times of the file.",
       cli::set_flag(wanted.preserve)},
      {'j', "jobid", "JOB", "The job whose nodes get the file. Default: the one around.",
       cli::set_text(wanted.job)}};
  table.unsupported = {{'C', "compress", false, "the file is sent as it is"},
                       {'F', "fanout", true, "the job's first node sends to all others"},
                       {'s', "size", true, "the file is sent in parts of 64 KiB"},
                       {'t', "timeout"},
                       {0, "send-libs", false},
                       {0, "exclude"},
                       {0, "treewidth"}};
  cli::add_common_options(table, wanted.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "abcast",
      .summary = "copy a file to all nodes of a job",
      .synopsis = {"[OPTIONS] SOURCE DEST"},
      .description =
          {"abcast copies the file SOURCE to DEST on each node of the job, as the job's user and "
           "with what the job sees as /tmp. A DEST that ends with / is a directory. It is called "
           "within a job, or with --jobid from anywhere.",
           "A file appears at DEST only when it is whole: its size and SHA-256 are compared, and "
           "then it gets its name in one step. If abcast or a node is lost before, nothing is left "
           "there. Without --force a file that exists stays and is an error.",
           "The copies run as a step of the job, beside other steps."},
      .examples = {{"abcast model.bin /tmp/model.bin", "In a batch script: to every node."},
                   {"abcast -f -p -j 4711 solver /tmp/", "Replace a program of a job that runs."}},
      .exit_status = {{"0", "Each node has the file."},
                      {"1",
                       "At least one has not; a line on standard error names it and says why."},
                      {"75", "The controller could not be reached for as long as abcast retries."}},
      .see_also = {"arun(1)", "aalloc(1)", "asub(1)"}};
}

}  // namespace ares::abcast
