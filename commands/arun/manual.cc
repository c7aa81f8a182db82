// The manual page of arun.
#include "arun/options.h"
#include "node/environment.h"
#include "steps/task_environment.h"

namespace ares::arun {

cli::Manual manual() {
  std::vector<std::string> variables;
  for (const node::Variable& variable : steps::task_variables())
    variables.push_back(std::string(variable.name) + ": " + std::string(variable.meaning) + ".");
  variables.push_back(
      "Each that begins with ARES_ is also set with SLURM_. The others of the job are those of the "
      "script, see asub(1); on other nodes those of that node.");
  return {
      .name = "arun",
      .summary = "run a program as the tasks of a step of a job",
      .synopsis = {"[OPTIONS] PROGRAM [ARGUMENTS]"},
      .description =
          {"Within a job, runs PROGRAM as one or more tasks on the job's nodes and waits for their "
           "end. The tasks together are a step; steps of a job are numbered from 0.",
           "What the tasks write comes out of arun, and what arun reads goes to the tasks. A "
           "reader "
           "that stops reading makes the tasks of its step wait when they write, and no other "
           "step.",
           "A step without --exact takes all CPUs of the job on its nodes, so a second one waits "
           "for "
           "its end. To run steps beside each other say --exact with --ntasks and --cpus-per-task, "
           "or "
           "--overlap.",
           "No task begins unless all nodes of the step can begin theirs, and none begins twice: a "
           "step whose node or whose arun is lost ends.",
           "Where there is no job, arun gets an allocation as aalloc(1) does, with the options of "
           "asub, runs the program as its only step, and ends the job with the program's exit "
           "code. In the environment of aalloc, or with --jobid, it runs the step in that job. "
           "Within "
           "a job an option that only asks for an allocation, such as --partition, has no effect, "
           "and a warning says so."},
      .sections =
          {{"VARIABLES OF A TASK", variables},
           {"PROGRAMS BY TASK",
            {"With --multi-prog each line of the file has ranks, a program and its "
             "arguments. Ranks are a number, a range as 1-3, several separated by commas, "
             "or * on the last line for all that are left. In the arguments %t is the rank "
             "and %o its place among the ranks of the line, from 0. Quotes group, a "
             "backslash escapes, and a word that begins with # ends the line. A task that "
             "the file does not name fails."}},
           {"GPUS OF A STEP",
            {"A step that says nothing about GPUs sees all GPUs of the job on its nodes, "
             "and takes none from other steps. With --gpus, --gpus-per-node, --gpus-per-task "
             "or --gres it gets so many: CUDA_VISIBLE_DEVICES and its relatives name these "
             "alone, and no other step gets them until it ends. A step that finds too few "
             "free ones waits.",
             "--exact and --overlap mean the same as for CPUs: without --exact a step takes "
             "its nodes whole, and a second one waits even if there are GPUs left; with "
             "--overlap it shares GPUs with other steps.",
             "--gpu-bind says which of these a task uses. closest: those nearest to its CPUs, "
             "or all where that is not known. single:TASKS: one of the closest, for so many "
             "tasks each. map:LIST, mask:LIST: the items in turn, where numbers and bits count "
             "the GPUs of the step on the node from 0; a GPU that is not there is an error. "
             "per_task:COUNT: the same as --gpus-per-task. none: all. With verbose each task "
             "says on its standard error which ones it has. A step without the option takes that "
             "of its job.",
             "A task is kept to the GPUs of its step by these variables only; the kernel "
             "keeps it to those of the job."}},
           {"MEMORY OF A TASK",
            {"--mem-bind says from which NUMA nodes of the machine the memory of a task comes. "
             "local: those of its CPUs. map_mem:LIST, mask_mem:LIST: the items in turn for the "
             "tasks of a node, where numbers and bits are those of the NUMA nodes. rank: one "
             "NUMA node for each task in turn. none: any. A task gets memory from no other "
             "NUMA node, and is killed by the kernel if it needs more than these have free; "
             "with prefer the others are used then. With verbose each task says on its "
             "standard error which NUMA nodes it has. A step without the option takes that of "
             "its job.",
             "Nothing is set where a task may use all NUMA nodes of the machine. What cannot "
             "be done is said on standard error, and the task runs without it. Where a cpuset "
             "is enforced, a task gets no NUMA nodes beyond those that --mem-bind of the job "
             "allows."}},
           {"PROGRAMS AROUND A TASK",
            {"The program of --task-prolog runs on the node before each task, in its "
             "directory and environment. Lines that it prints change the task: export "
             "NAME=value sets a variable, unset NAME removes it, print TEXT writes to the "
             "task's standard output. If it fails, the task is not run and ends with 1.",
             "That of --task-epilog runs after the task, for 10 seconds at most; what it "
             "exits with is only reported. It does not run after KILL.",
             "The programs of --prolog and --epilog run once, where arun runs, before and after "
             "the step, with PROGRAM and its arguments as theirs. arun waits for them; if one "
             "fails, a warning says so and the step is not affected."}},
           {"COPIES OF THE PROGRAM",
            {"--bcast copies the file of PROGRAM to PATH on every node of the job before the "
             "step, as abcast(1) does, and removes it after the step. A PATH that ends with "
             "/ is a directory, in which the copy gets a name of its own; without PATH that "
             "is /tmp/. A file that exists at PATH is not replaced. If arun is killed, the "
             "copies are left. --compress has it compressed on its way."}},
           {"SIGNALS",
            {"Ctrl-C says which tasks run; a second one within a second sends them SIGINT, "
             "a third ends "
             "the step. Without a terminal, and with --quit-on-interrupt, the first one is "
             "sent to the "
             "tasks. SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on.",
             "A signal that the whole job gets reaches the tasks by itself, and arun does "
             "not pass it "
             "on."}}},
      .examples = {{"arun hostname", "One task for each task of the job."},
                   {"arun -n4 -c2 --exact ./solver &", "One of several steps at the same time."},
                   {"arun -n4 -c2 --gpus-per-task=1 --exact python3 train.py &",
                    "Four tasks with a GPU each, beside other steps."},
                   {"arun -l -N2 --ntasks-per-node=1 nvidia-smi -L", "Once on each of two nodes."},
                   {"arun --overlap --pty bash", "A shell beside what runs."},
                   {"arun -p gpu --gres=gpu:1 -t 30 --pty bash",
                    "Outside of a job: a shell on a node with a GPU for half an hour."},
                   {"arun --jobid=4711 --overlap -N1 top -b -n1", "Look into a job that runs."}},
      .exit_status =
          {{"N", "The highest exit code of the tasks; 128 + the signal that ended one."},
           {"1",
            "The step could not be run, or its node was lost; a line on standard error says why."}},
      .see_also = {"aalloc(1)", "asub(1)", "ares-node(7)"}};
}

}  // namespace ares::arun
