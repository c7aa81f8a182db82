#include "environment_page.h"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "cli/options/manual.h"
#include "node/environment.h"
#include "steps/task_environment.h"
#include "submission/submission.h"

namespace ares {
namespace {

std::string entry(const std::string& name, const std::string& meaning) {
  return ".TP\n.B " + cli::man_escape(name) + "\n" + cli::man_escape(meaning) + "\n";
}

// Both names, where Slurm has one.
std::string variables(std::span<const node::Variable> rows) {
  std::string out;
  for (const node::Variable& row : rows) {
    std::string names(row.name);
    if (const auto slurms = node::slurm_name(row.name)) names += ", " + *slurms;
    std::string meaning(row.meaning);
    if (!row.when.empty()) meaning += "; " + std::string(row.when);
    out += entry(names, meaning);
  }
  return out;
}

std::string submission_variables() {
  submission::Submission unused;
  const cli::OptionTable table = submission::options(unused, Time());
  std::string out;
  for (const cli::Option& option : table.options)
    if (option.environment && !option.name.empty())
      out += (out.empty() ? "" : ", ") + cli::environment_name(table, option);
  return cli::man_escape(out);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kReadByCommands = {{
    {"ARES_CONF",
     "path of the configuration, where --config is not given; else /etc/ares/ares.yaml"},
    {"ACLUSTER_DIR", "folder of the private cluster of acluster(1), where --dir is not given"},
    {"ARES_JOB_ID", "the job in which a command runs: arun(1) starts its step in it"},
    {"ARES_BITSTR_LEN, SLURM_BITSTR_LEN",
     "how many characters of a list of array indices listings show, 64 by default; 0 shows all"},
    {"TZ", "time zone in which times are shown and read"},
    {"XDG_STATE_HOME",
     "folder in which the interactive forms of actl(1) and aacctmgr(1) keep their history"},
}};

}  // namespace

std::string environment_page() {
  std::string page =
      ".\\\" Generated from the tables of variables and options; edit "
      "libcommon/node/environment.cc "
      "and libcommon/steps/task_environment.cc.\n"
      ".TH ARES-ENVIRONMENT 7 \"\" \"Ares " ARES_VERSION
      "\" \"Concepts\"\n"
      ".SH NAME\nares\\-environment \\- environment variables that jobs find and commands read\n"
      ".SH VARIABLES OF A JOB\n"
      "The script of a job has the variables with which it was submitted, as \\-\\-export of asub "
      "says; PATH, HOME, SHELL, USER and LOGNAME in any case; and these. Those with two names "
      "have the same value under both, so that scripts and programs that were written for Slurm "
      "find their job. \\fBnode.slurm_variables: false\\fR in ares.yaml(5) leaves Slurm's names "
      "out. A variable of the same name that was submitted is replaced, unless the text says "
      "otherwise.\n";
  page += variables(node::job_variables());
  page +=
      ".SH VARIABLES OF A TASK\n"
      "A program that arun starts has the variables of the job, and these instead of, or beside, "
      "those of the same name.\n";
  page += variables(steps::task_variables());
  page += ".PP\n" +
          cli::man_escape(
              "Of Slurm's variables these have no meaning here and are not set: "
              "SLURM_SRUN_COMM_PORT, because no task calls arun back, and "
              "SLURM_SHARDS_ON_NODE, because a part of a GPU is no shard; the part is in "
              "ARES_GPU_FRACTION.") +
          "\n";
  page +=
      ".SH OPTIONS OF ASUB IN THE ENVIRONMENT\n"
      "These variables are read by asub as the options of that name. The command line precedes "
      "them, and they precede the directives of the script. An option without a value is given "
      "by any value except an empty one, 0, no or false. The names of sbatch are taken as well: "
      "SBATCH_TIMELIMIT for ASUB_TIME, and SBATCH_ with the rest of each name; where both are "
      "set, ASUB_ counts. A variable that begins with ASUB_ or SBATCH_ and is not the name of an "
      "option has no effect, and a warning says so.\n.PP\n";
  page += submission_variables() + ".\n";
  page += ".PP\n" +
          cli::man_escape(
              "ASUB_OUTPUT_PREFIX is the first word of the default file of standard "
              "output: with slurm it is slurm-%j.out.") +
          "\n";
  page +=
      ".SH OPTIONS OF OTHER COMMANDS\n"
      "The other commands read their options alike, under their own name: AQUEUE_FORMAT is the "
      "\\-\\-format of aqueue. The manual page of a command names the variable with each option. "
      "The wrappers of contrib/slurm take Slurm's names, such as SQUEUE_FORMAT.\n"
      ".SH READ BY COMMANDS\n";
  for (const auto& [name, meaning] : kReadByCommands)
    page += entry(std::string(name), std::string(meaning));
  page +=
      ".SH SEE ALSO\n.BR asub (1),\n.BR arun (1),\n.BR ares\\-exit\\-codes (7),\n.BR "
      "ares\\-mpi (7),\n.BR ares\\-slurm (7)\n";
  return page;
}

}  // namespace ares
