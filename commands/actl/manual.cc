// The manual page of actl, and --help, from the tables of its commands and properties.
#include "actl/command.h"
#include "actl/update_keys.h"
#include "cli/output/text.h"

namespace ares::actl {
namespace {

std::vector<std::string> job_properties() {
  std::vector<std::string> texts = {
      "IDS are job numbers, arrays and their tasks: 12,15 or 12_3 or 12_[1-4]. Users may change "
      "their own jobs as far as the rows below say. A change is refused for the same reasons as a "
      "submission; then none of its properties is changed. Properties without another remark can "
      "be changed while the job is pending."};
  for (std::string& text : key_texts(job_keys())) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> partition_properties() {
  std::vector<std::string> texts = {
      "For administrators. A change is kept until ares.yaml is applied again: it survives restarts "
      "of the controller with an unchanged file, but not reconfigure, which prints what it "
      "undoes."};
  for (std::string& text : key_texts(partition_keys())) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> reservation_properties() {
  std::vector<std::string> texts = {
      "A reservation needs nodes, an end or a duration, and users or accounts, or the flag "
      "MAINT. Jobs of its users run in it when they ask for it (asub --reservation), wholly "
      "between its start and end unless it is FLEX; a job without a time limit gets the time that "
      "is left. All other jobs stay off its nodes unless they end before it begins. It is refused "
      "if a job that runs there may still run at its start, or another reservation has a node at "
      "the same time. A reservation that does not recur is deleted when it is over. One that "
      "recurs is then moved to its next occurrence, by the wall clock of the controller's time "
      "zone."};
  for (std::string& text : key_texts(reservation_keys())) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> refused_texts() {
  std::vector<std::string> texts = {"These of scontrol are refused by name."};
  for (const RefusedCommand& command : refused_commands())
    texts.push_back(cli::join(command.words, " ") + ": " + command.why + ".");
  return texts;
}

std::vector<std::string> interactive_texts() {
  return {
      "Without a command actl reads commands, one a line, until the end of its input, exit or "
      "quit. On a terminal lines can be edited and are remembered in "
      "$XDG_STATE_HOME/ares/actl_history (~/.local/state), and the tabulator completes commands, "
      "properties, their values and the names of jobs, nodes and partitions.",
      "From a pipe or a file the first command that fails ends it: the message names the line, and "
      "the exit status is the command's. Options after a command apply to that line."};
}

}  // namespace

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "actl",
      .summary = "look into and control the cluster",
      .synopsis = {"[OPTIONS] COMMAND [ARGUMENTS]", "[OPTIONS]"},
      .description =
          {"actl shows jobs, nodes, partitions and the configuration in full, and "
           "changes them.",
           "Commands may be shortened to three letters or more, and what show is to show "
           "further, as long as they mean one thing. \"show job=12\" and \"show jobid 12\" are the "
           "same as "
           "\"show job 12\", \"hold jobid=12\" the same as \"hold 12\"; \"hold "
           "name=NAME\" holds the jobs of that name.",
           "Users may act on their own jobs; operators on everyone's and on nodes."},
      .sections = {{"Commands",
                    [] {
                      std::vector<std::string> texts;
                      for (const Command& command : commands())
                        texts.push_back(cli::join(command.words, " ") +
                                        (command.arguments.empty() ? "" : " " + command.arguments) +
                                        ": " + command.help);
                      return texts;
                    }()},
                   {"Commands that are not supported", refused_texts()},
                   {"Properties of jobs", job_properties()},
                   {"Who may change what of a job", job_change_texts()},
                   {"Properties of steps", key_texts(step_keys())},
                   {"Properties of nodes", key_texts(node_keys())},
                   {"Properties of reservations", reservation_properties()},
                   {"Properties of partitions", partition_properties()},
                   {"Topology of a machine", topology_texts()},
                   {"Interactive use", interactive_texts()}},
      .examples = {{"actl show job 12", "Everything about job 12."},
                   {"actl drain n[3-4] reason='fan broken'", "Let two nodes run empty."},
                   {"actl update jobid=12 timelimit=30 partition=short",
                    "Shorten a job and move it."},
                   {"actl show hostnames $ARES_JOB_NODELIST", "The nodes of the job, in a script."},
                   {"nvidia-smi topo -m | actl topology - --allocate=4 --busy=0,5",
                    "Which 4 GPUs a job would get while two are in use."},
                   {"actl --check=new.yaml", "Check a configuration before it is used."}},
      .see_also = {"aqueue(1)", "ainfo(1)", "acancel(1)", "ares.yaml(5)", "ares-reasons(7)"}};
  return text;
}

}  // namespace ares::actl
