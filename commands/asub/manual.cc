#include "asub/manual.h"

#include "base/file_pattern.h"

namespace ares::asub {
namespace {

// From the table by which names are expanded.
std::string file_name_patterns() {
  std::string text = "In the names of output and input files of the job these are replaced:";
  for (const PatternLetter& row : pattern_letters())
    text += std::string(" %") + row.letter + " (" + std::string(row.meaning) + "),";
  return text + " %% (a percent sign).";
}

}  // namespace

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "asub",
      .summary = "submit a batch script",
      .synopsis = {"[OPTIONS] SCRIPT [ARGUMENTS]", "[OPTIONS] --wrap=COMMAND", "[OPTIONS] < SCRIPT",
                   "[OPTIONS] --from=FILE"},
      .description =
          {"asub hands a script to the controller and prints the number of the job that "
           "will run it. Once the number is "
           "printed the job is stored safely: no crash of any machine loses it.",
           "The script is sent as it is now; changing or deleting the file later does "
           "not matter. It must begin with #! "
           "and runs once, on the first node of the job, with the resources of the "
           "whole job. A script whose name holds "
           "no slash is looked for in the current folder and then in PATH. A shell script "
           "with lines that begin with srun is submitted with a warning if PATH has no srun.",
           "While the controller is away asub says so, tries again by itself, and "
           "submits once however often it tried."},
      .sections =
          {{"Directives",
            {"Lines of the script that begin with #ARES carry options, as if they stood on "
             "the command line. So do lines "
             "that begin with #SBATCH. They are read up to the first line that is neither "
             "a comment nor blank. Quotes "
             "group words; nothing is expanded; # ends the line. "
             "##ARES is a plain comment.",
             "The command line overrides the environment, and the environment overrides "
             "directives. Of two options that "
             "exclude each other the one of higher precedence applies.",
             "Variables of the environment are ASUB_NAME for the option --name, and below them "
             "SBATCH_NAME; both also with the names that sbatch uses, such as SBATCH_TIMELIMIT. "
             "One with these prefixes that is not an option is named in a warning. "
             "ASUB_OUTPUT_PREFIX is "
             "the first word of the default file of standard output, in place of ares. Long names "
             "of "
             "options may be shortened as long as they mean one option."}},
           {"GPUs",
            {"GPUs may be asked for in up to three ways, for each task (--gpus-per-task), on each "
             "node (--gpus-per-node, --gres) and in total (--gpus). They must agree: one is a "
             "multiple of the other, of the same types; a list without a type gets that of the "
             "others. Then --gpus with --gpus-per-node says how many nodes there are, and "
             "--gpus-per-task with one of the others how many tasks. --gpus alone takes as many "
             "nodes as are needed, unless -N says how many.",
             "Without a type in any of them, all GPUs that one node gives to the job are of one "
             "type."}},
           {"Many jobs in one call",
            {"With --from every line of a file is a job: the path of a script, or a JSON "
             "object such as {\"script\": \"run.sh\", \"args\": [\"7\"], \"ntasks\": 4} or "
             "{\"wrap\": \"./run 7\", \"mem\": \"2G\", \"hold\": true}. Blank lines and those "
             "that begin with # are skipped. Options of the line override those of the command "
             "line, and these override the environment and the script's directives.",
             "Nothing is submitted if any line is wrong. Otherwise the jobs are submitted some "
             "hundreds at a time, each time all or none, and their ids are printed in the "
             "order of the lines. If it stops half-way, repeat the command with the --request-id "
             "that it prints: it continues, and submits nothing twice."}},
           {"Gangs",
            {"Jobs submitted with the same --gang=NAME by one user are a gang: they start at "
             "once, in one decision of the scheduler, or not at all, and while they wait they "
             "hold nothing. All members name the same size, --gang-min, --gang-timeout and "
             "partition; each may ask for other nodes, GPUs and time. Each task of a job array is "
             "a member; an array without --gang-size is a gang of its own. In a partition with a "
             "known network members are placed close together. They wait (WaitingForGang) "
             "until all members are submitted and none is held, waits for another job or for its "
             "begin time. The gang has the place of its highest-ranked member in the queue, and "
             "one planned start for all members.",
             "A member that is cancelled, or whose dependency can never be met, or that passes "
             "its deadline, before the gang has started is lost: the others are cancelled "
             "(GangMemberLost), or continue without it if at least --gang-min are left. A held "
             "member is not lost: the gang waits for its release. --gang-timeout counts from the "
             "time at which the first of the submitted members could have started alone, for "
             "whatever reason the gang waits. When it is over, all members are cancelled "
             "(GangTimeout).",
             "Once started, members are jobs like any other: one that fails or is requeued, also "
             "for its node's fault before its script ran, leaves the others alone and runs again "
             "by itself. The name is free again when all have ended. A gang that may preempt "
             "others does so only if all its members can start then, and the running members of "
             "a gang are preempted together. Several partitions, an array's limit on running "
             "tasks, --exclusive=user and --time-min cannot be combined with a gang."}},
           {"Returning first",
            {"With --requeue=expedite a job whose attempt fails waits again at once, before all "
             "other jobs of every partition, and the healthy nodes of the attempt are kept for "
             "it: no other job starts on them until it starts, is cancelled, is held or is "
             "changed to ask for something else, or until policy.expedite.keep (10 minutes) has "
             "passed since the failure. Then it is still the first. Jobs that run on a kept node "
             "already run on. It takes the kept nodes before others; the node that failed is "
             "excluded from the next attempt, and the job waits for another one in its place.",
             "A failure is: the script ends with an exit code other than 0 or by a signal; a node "
             "of the job is lost or set down; a node fails to launch it, without the usual delay. "
             "It is none if the job is cancelled, requeued by a command or preempted, if it "
             "reaches its time limit or deadline, runs out of memory, or cannot be launched for a "
             "reason of its own, such as a folder that does not exist.",
             "A job returns first at most policy.expedite.most times in a row (3). An attempt "
             "that ran for policy.expedite.long_run (an hour) begins the count anew. After that "
             "a script that fails ends the job as FAILED, and a lost node requeues it like other "
             "jobs. ARES_RESTART_COUNT tells the script that it runs again. actl show job shows "
             "the count, the kept nodes and the time until which they are kept.",
             "Each task of an array returns by itself, within the array's limit on running "
             "tasks; so does each member of a gang that has started. Jobs that depend on the job "
             "wait until it ends for good. Limits, licences and advance reservations apply to "
             "its return as to any start; while one of them keeps it waiting its nodes stay kept. "
             "No job gets a kept node by preemption, and a suspended job does not resume there; "
             "the "
             "returning job itself preempts others as its partition and QOS permit."}},
           {"Spare nodes",
            {"With --spare-nodes=N the job gets N nodes more than -N says, of the same kind and "
             "with as many CPUs, GPUs and as much memory as each of the others. They are part of "
             "the allocation: charged, counted by limits and in NumNodes, and the last in its "
             "order. ARES_JOB_NODELIST, ARES_NNODES and ARES_NTASKS of the script are without "
             "them. A spare node that is lost while the job runs does not end the attempt.",
             "When another node fails the job returns first as with --requeue=expedite, also "
             "without that option, but not when its script fails. If it does not get all its "
             "nodes at once, it starts with fewer spare nodes: the kept nodes suffice as long as "
             "no more nodes have failed than it had spare ones. -N must be one number and the "
             "tasks must be the same on each node; --gpus, -w, --segment and --no-requeue cannot "
             "be combined with it."}},
           {"File names",
            {file_name_patterns(),
             "A number after % pads with zeros: %8j. A backslash in a name switches patterns off. "
             "Relative names count from the job's working folder."}},
           {"Environment of the job",
            {"With --export=ALL the job sees the variables that asub saw. With NONE, or a "
             "list without ALL, it sees HOME, "
             "LOGNAME, USER, SHELL, LANG, variables that begin with ARES_, a plain PATH, "
             "and those listed. With NIL it sees none of "
             "these. The job's own ARES_ variables are always set."}}},
      .examples =
          {{"asub -N 2 -n 8 -t 1:00:00 job.sh",
            "Run job.sh on two nodes with eight tasks, for at most an hour."},
           {"asub --gres=gpu:a100:2 --wrap 'python train.py'", "Run one command with two GPUs."},
           {"asub -a 0-99%10 job.sh",
            "Run a hundred tasks, ten at a time; each finds its index in "
            "ARES_ARRAY_TASK_ID."},
           {"seq -f '{\"wrap\": \"./simulate %g\"}' 1000 | asub --from=- -t 10",
            "Submit a thousand jobs of ten minutes in one call."},
           {"asub --gang=train --gang-size=2 ps.sh; asub --gang=train --gang-size=2 -N 4 work.sh",
            "Start both when there is room for both."},
           {"id=$(asub --parsable a.sh); asub -d afterok:$id b.sh",
            "Run b.sh once a.sh has completed."}},
      .exit_status =
          {{"0", "The job was accepted; with --wait: it completed."},
           {"1", "Refused, with a line on standard error that says why; nothing was submitted."},
           {"75",
            "The controller could not be reached for ten minutes. Whether a last try arrived is "
            "not known; repeating the command with the --request-id that it names is safe."},
           {"other",
            "With --wait: the exit code of the job's script, or 128 + the signal that ended it."}},
      .see_also = {"aqueue(1)", "acancel(1)", "aacct(1)", "ares.yaml(5)", "ares-job-states(7)"}};
  return text;
}

}  // namespace ares::asub
