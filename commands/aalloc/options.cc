#include "aalloc/options.h"

#include <csignal>

#include "base/signal_name.h"
#include "submission/allocation_request.h"

namespace ares::aalloc {
namespace {

Status set_signal(std::optional<int>& signal, const std::string& text) {
  signal = SIGTERM;
  if (text.empty()) return {};
  const Result<int> number = parse_signal(text);
  if (!number) return fail(number.error());
  signal = *number;
  return {};
}

}  // namespace

cli::OptionTable options(Wanted& wanted, Time now) {
  cli::OptionTable table = submission::allocation_options(wanted.job, now);
  table.environment_prefix = "AALLOC_";
  table.options.push_back({0, "no-shell", "",
                           "Run no command: say the job's id and leave the allocation. It lasts "
                           "until acancel or its time limit ends it.",
                           cli::set_flag(wanted.shell, false)});
  table.options.push_back(submission::immediate_option(wanted.immediate));
  table.options.push_back(
      {'K', "kill-command", "[SIGNAL]",
       "Send the command this signal, TERM by default, when the allocation is gone before it has "
       "ended. Without this option the command goes on without an allocation.",
       [&wanted](const std::string& text) { return set_signal(wanted.kill_command, text); }});
  table.options.push_back(
      {0, "bell", "",
       "Ring the bell of the terminal when the allocation is granted. By default that "
       "is done after a wait of ten seconds.",
       [&wanted](const std::string&) -> Status {
         wanted.bell = step_client::Bell::always;
         return {};
       }});
  table.options.push_back(
      {0, "no-bell", "", "Never ring it.", [&wanted](const std::string&) -> Status {
         wanted.bell = step_client::Bell::never;
         return {};
       }});
  return table;
}

cli::Manual manual() {
  return {
      .name = "aalloc",
      .summary = "get an allocation and run a command or a shell with it",
      .synopsis = {"[OPTIONS] [COMMAND [ARGUMENTS]]"},
      .description =
          {"aalloc asks for nodes as asub does, waits until it has them, and then runs COMMAND, or "
           "your shell, on the machine where it was called. The variables of the job are set, so "
           "arun within the command runs its tasks on the nodes of the job. When the command ends, "
           "so does the job, with its exit code.",
           "Ctrl-C while it waits cancels the job.",
           "The job is like any other: it is queued, accounted, limited and listed, and it may be "
           "cancelled. Its batch script is a program that waits on its first node and does "
           "nothing."},
      .sections =
          {{"When the connection is lost",
            {"aalloc holds the allocation by a connection to the job's first node. If aalloc is "
             "killed, its terminal goes away or its machine dies, the job ends "
             "node.allocation_timeout (60 seconds) later with exit code 129, as a program does "
             "whose terminal is gone. A machine that dies without a word is noticed within a "
             "minute.",
             "A restart of the controller, or of the node daemon, ends no allocation. If the "
             "connection breaks for another reason aalloc connects again.",
             "If the job ends first, because it was cancelled, reached its time limit or lost a "
             "node, aalloc says that it was revoked. The command goes on; --kill-command sends it "
             "a signal."}},
           {"Environment",
            {"The command gets the variables that aalloc had, and those of the job, such as "
             "ARES_JOB_ID, ARES_JOB_NODELIST and ARES_NTASKS, also with SLURM_ in place of ARES_. "
             "asub(1) lists them. Those of one node, such as CUDA_VISIBLE_DEVICES, are set for the "
             "tasks that arun runs there."}}},
      .examples = {{"aalloc -N2 -n8 -t 30", "A shell with two nodes for half an hour."},
                   {"aalloc -n4 --gres=gpu:1 arun python3 train.py",
                    "Four tasks on a node with a GPU; the same as with arun alone."},
                   {"aalloc -N2 --no-shell", "Leave the allocation for arun --jobid=ID."}},
      .exit_status = {{"N", "The exit code of the command; 128 + the signal that ended it."},
                      {"1", "There is no allocation; a line on standard error says why."},
                      {"75", "The controller could not be reached for as long as aalloc retries."}},
      .see_also = {"arun(1)", "asub(1)", "acancel(1)", "ares-node(7)", "ares.yaml(5)"}};
}

}  // namespace ares::aalloc
