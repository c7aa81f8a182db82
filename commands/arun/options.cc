#include "arun/options.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "arun/refused_options.h"
#include "base/printable.h"
#include "model/job/binding_options.h"
#include "steps/task_environment.h"
#include "submission/allocation_request.h"

namespace ares::arun {
namespace {

using cli::set_flag;
using cli::set_text;

constexpr std::uint32_t kMost = 1'000'000;

std::function<Status(const std::string&)> set_count(std::function<void(std::uint32_t)> set) {
  return [set = std::move(set)](const std::string& text) -> Status {
    const auto number = number_of(text);
    if (!number || *number == 0)
      return fail(ErrorCode::invalid_argument,
                  quote(text) + " is not a number from 1 to " + std::to_string(kMost));
    set(*number);
    return {};
  };
}

Status set_cpus(steps::TaskSettings& task, const std::string& text) {
  if (text.find('.') != std::string::npos || text.ends_with('m'))
    return fail(ErrorCode::invalid_argument,
                quote(text) +
                    ": the tasks of a step get whole CPUs; asub and aalloc give a job a fraction "
                    "of a CPU for each task");
  return set_count([&task](std::uint32_t n) { task.cpus_per_task = n; })(text);
}

// "2", or "2-4", of which a step gets the least.
std::function<Status(const std::string&)> set_nodes(std::optional<std::uint32_t>& nodes) {
  return [&nodes](const std::string& text) -> Status {
    const std::size_t dash = text.find('-');
    const auto first = number_of(text.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number_of(text.substr(dash + 1));
    if (!first || !last || *first == 0 || *last < *first)
      return fail(ErrorCode::invalid_argument,
                  quote(text) + " is neither a number nor a range as 2-4");
    nodes = *first;
    return {};
  };
}

// A way of srun that a step does not know.
bool is_bound_otherwise(CpuBindKind kind) {
  return kind != CpuBindKind::unset && kind != CpuBindKind::none && kind != CpuBindKind::cores &&
         kind != CpuBindKind::threads;
}

// Those of asub, for the job that arun asks for where there is none. Where both have an option about the
// tasks, it is about both.
void add_allocation_options(cli::OptionTable& table, Wanted& w, Time now) {
  constexpr std::string_view kOfBoth[] = {
      "ntasks",        "nodes",         "cpus-per-task", "ntasks-per-node",
      "nodelist",      "exclude",       "exclusive",     "job-name",
      "time",          "mem",           "mem-per-cpu",   "gpus",
      "gpus-per-node", "gpus-per-task", "gres",          "overcommit"};
  const auto named = [&](const std::string& name) {
    return std::find_if(table.options.begin(), table.options.end(),
                        [&](const cli::Option& option) { return option.name == name; });
  };
  cli::OptionTable of_asub = submission::allocation_options(w.allocation, now);
  for (cli::Unsupported& row : of_asub.unsupported)
    if (std::none_of(table.unsupported.begin(), table.unsupported.end(),
                     [&](const cli::Unsupported& known) { return known.name == row.name; }))
      table.unsupported.push_back(std::move(row));
  for (cli::Option& option : of_asub.options) {
    const auto own = named(option.name);
    if (own == table.options.end()) {
      if (std::any_of(table.options.begin(), table.options.end(),
                      [&](const cli::Option& o) { return o.letter == option.letter; }))
        option.letter = 0;
      option.environment = false;
      option.apply = [&w, name = option.name,
                      apply = std::move(option.apply)](const std::string& text) {
        w.of_allocation.push_back(name);
        return apply(text);
      };
      table.options.push_back(std::move(option));
    } else if (std::find(std::begin(kOfBoth), std::end(kOfBoth), option.name) !=
               std::end(kOfBoth)) {
      own->apply = [of_step = std::move(own->apply),
                    of_job = std::move(option.apply)](const std::string& text) -> Status {
        if (Status applied = of_step(text); !applied) return applied;
        return of_job(text);
      };
    }
  }
  std::erase_if(table.unsupported, [&](const cli::Unsupported& row) {
    return named(row.name) != table.options.end();
  });
}

}  // namespace

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number > kMost)
    return std::nullopt;
  return number;
}

cli::OptionTable options(Wanted& w, Time now) {
  cli::OptionTable table;
  steps::StepRequest& request = w.request;
  steps::TaskSettings& task = request.task;
  table.environment_prefix = "ARUN_";
  table.stop_at_operand = true;
  table.options = {
      {'n', "ntasks", "N",
       "Run N tasks. Default: as many as the job has, or one on each node with --nodes.",
       set_count([&w](std::uint32_t n) { w.tasks = n; })},
      {'N', "nodes", "N", "Run on N nodes of the job.", set_nodes(w.nodes)},
      {'c', "cpus-per-task", "N", "CPUs of each task. Default: as the job's.",
       [&task](const std::string& text) { return set_cpus(task, text); }},
      {'J', "job-name", "NAME",
       "Name of the step in listings and accounting, and of the job where arun asks for one. "
       "Default: the program's.",
       set_text(request.name)},
      {'t', "time", "LIMIT",
       "Time limit of the step, as of asub, to the second; 0 for none but that of the job. Time in "
       "which the job is suspended counts. Its "
       "tasks then get TERM, and KILL after the kill_wait of the job; its state is TIMEOUT.",
       set_text(w.resources.time)},
      {'G', "gpus", "[TYPE:]N", "GPUs of the step on all its nodes together: see GPUS OF A STEP.",
       set_text(w.resources.gpus)},
      {0,
       "gpus-per-node",
       "[TYPE:]N",
       "GPUs of the step on each of its nodes.",
       set_text(w.resources.gpus_per_node),
       {},
       {"gres"}},
      {0, "gpus-per-task", "[TYPE:]N", "GPUs of each task, which sees no others.",
       set_text(w.resources.gpus_per_task)},
      {0, "gres", "gpu[:TYPE][:N]", "The same as --gpus-per-node; none: the step sees no GPU.",
       set_text(w.resources.gres)},
      {0,
       "mem",
       "SIZE",
       "Memory of the step on each node, within that of the job; a plain number is MiB, 0 that "
       "of the job. It needs a node with the memory controller of cgroup version 1, and a job "
       "whose memory is limited; elsewhere the step is refused.",
       set_text(w.resources.memory_per_node),
       {},
       {"mem-per-cpu"}},
      {0, "mem-per-cpu", "SIZE", "The same for each CPU of the step.",
       set_text(w.resources.memory_per_cpu)},
      {0, "task-prolog", "PROGRAM",
       "Run this program of the node before each task, as the user: see PROGRAMS AROUND A TASK.",
       set_text(task.prolog)},
      {0, "task-epilog", "PROGRAM", "Run it after each task.", set_text(task.epilog)},
      {0, "bcast", "[PATH]",
       "Copy PROGRAM to the nodes of the job first, and run the copy: see COPIES OF THE PROGRAM.",
       [&w](const std::string& text) -> Status {
         w.broadcast = text;
         return {};
       }},
      {0, "compress", "[zlib]",
       "With --bcast: compress the copy by zlib on its way, where the network is slower than a "
       "CPU.",
       [&w](const std::string& text) -> Status {
         if (!text.empty() && text != "zlib")
           return fail(ErrorCode::invalid_argument, quote(text) + ": the only way is zlib");
         w.compress = true;
         return {};
       }},
      {0, "prolog", "PROGRAM",
       "Run this program where arun runs, with PROGRAM and its arguments, before the step: see "
       "PROGRAMS AROUND A TASK.",
       set_text(w.prolog)},
      {0, "epilog", "PROGRAM", "Run it in the same way after the step.", set_text(w.epilog)},
      {0, "ntasks-per-node", "N", "At most N tasks on a node.",
       set_count([&request](std::uint32_t n) { request.tasks_per_node = n; })},
      {0,
       "ntasks-per-core",
       "N",
       "At most N tasks on a core: each task is bound to CPUs of its own, of cores that have no "
       "more tasks. A step whose CPUs do not suffice for that is refused. For a job of its own 1 "
       "also asks for whole cores, as of asub.",
       set_count([&w](std::uint32_t n) {
         w.request.task.tasks_per_core = n;
         if (n == 1) w.allocation.tasks_per_core = n;
       }),
       {},
       {"overcommit"}},
      {0,
       "ntasks-per-socket",
       "N",
       "At most N tasks on a socket: each task is bound to CPUs of its own, all of one socket. A "
       "step whose CPUs do not suffice for that is refused.",
       set_count([&task](std::uint32_t n) { task.tasks_per_socket = n; }),
       {},
       {"overcommit"}},
      {'w', "nodelist", "NODES", "Run on these nodes of the job only.", set_text(w.node_list)},
      {'x', "exclude", "NODES", "Run on no node of these.", set_text(w.excluded)},
      {'m', "distribution", "WAY",
       "block: ranks that follow each other share a node; cyclic: they go round the nodes. "
       "Default: "
       "as the job was submitted.",
       set_text(w.distribution)},
      {0,
       "exact",
       "",
       "Take only the CPUs that the tasks ask for, so that steps can run beside each other. "
       "Without "
       "it a step takes all CPUs of the job on its nodes.",
       set_flag(request.exact),
       {},
       {"overlap"}},
      {0, "exclusive", "", "The same as --exact.", set_flag(request.exact)},
      {0, "overlap", "", "Share the CPUs with other steps, and wait for none.",
       set_flag(request.overlap)},
      {'O', "overcommit", "",
       "Permit more tasks than CPUs, as a job that was submitted with it does for all its steps. "
       "For a job of its own as of asub.",
       set_flag(request.overcommit)},
      {'I', "immediate", "", "Fail instead of waiting for other steps.",
       set_flag(request.immediate)},
      {'l', "label", "", "Begin each line with the rank of its task.", set_flag(w.label)},
      {'u', "unbuffered", "",
       "Write what comes at once. Without it the end of a line is waited for where there are "
       "several "
       "tasks, so that their lines do not mix.",
       set_flag(w.unbuffered)},
      {0, "pty", "", "Give task 0 a terminal, as large as yours.", set_flag(w.pty)},
      {'i', "input", "FILE",
       "Input of the tasks: a file that each of them opens, all: yours goes to all tasks "
       "(default), a rank: yours goes to that task, none.",
       set_text(w.input)},
      {'o', "output", "FILE",
       "Output of the tasks: a file, all: yours (default), a rank: only of that task, none. With "
       "%t, "
       "%n or %N in its name each task, or node, writes its own file.",
       set_text(w.output)},
      {'e', "error", "FILE", "The same for standard error. Default: as --output for files.",
       set_text(w.errors)},
      {0, "open-mode", "MODE", "append or truncate (default) files of --output and --error.",
       set_text(w.open_mode)},
      {0, "output-overflow", "WAY",
       "What happens to tasks whose output arun does not read, as when its own reader has stopped. "
       "Up to 64 MiB of each of their streams are kept on their node. wait (default): a task that "
       "writes more waits. drop: the oldest lines are dropped, and standard error says how much.",
       [&task](const std::string& text) -> Status {
         if (text != "wait" && text != "drop")
           return fail(ErrorCode::invalid_argument, quote(text) + " is neither wait nor drop");
         task.drop_output = text == "drop";
         return {};
       }},
      {'K', "kill-on-bad-exit", "[0|1]", "End the step when a task fails.",
       [&w](const std::string& text) -> Status {
         if (!text.empty() && text != "0" && text != "1")
           return fail(ErrorCode::invalid_argument, quote(text) + " is neither 0 nor 1");
         w.request.kill_on_bad_exit = text != "0";
         return {};
       }},
      {'W', "wait", "SECONDS",
       "End the step so long after its first task has ended. 0 (default): wait for all tasks.",
       [&w](const std::string& text) -> Status {
         const auto number = number_of(text);
         if (!number)
           return fail(ErrorCode::invalid_argument, quote(text) + " is not a number of seconds");
         w.wait_seconds = *number;
         return {};
       }},
      {0, "multi-prog", "",
       "PROGRAM is a file that says which tasks run what: see PROGRAMS BY TASK.",
       set_flag(w.multi_prog)},
      {'r', "relative", "N",
       "Run on the nodes of the job from number N on, counted from 0, and on none before.",
       [&w](const std::string& text) -> Status {
         const auto number = number_of(text);
         if (!number)
           return fail(ErrorCode::invalid_argument, quote(text) + " is not a number of nodes");
         w.relative = *number;
         return {};
       }},
      {'q', "quit-on-interrupt", "", "Ctrl-C ends the step at once.",
       set_flag(w.quit_on_interrupt)},
      {'X', "disable-status", "", "The same: no status is shown, and Ctrl-C goes to the tasks.",
       set_flag(w.quit_on_interrupt)},
      {'Q', "quiet", "", "Do not tell how tasks failed.", set_flag(w.quiet)},
      {'D', "chdir", "DIR", "Directory of the tasks. Default: the current one.",
       set_text(w.directory)},
      {0, "export", "NAMES",
       "Variables for the tasks: ALL (default), NONE, or names and NAME=value separated by commas. "
       "Those that describe the job are always there.",
       set_text(w.export_names)},
      {0, "jobid", "JOB",
       "Run the step in this job, from wherever you are. Its user and operators may.",
       set_text(w.job)},
      {0,
       "cpu-bind",
       "[verbose,]WAY",
       "none: tasks may use all CPUs of the step. auto (default), cores, threads: each task is "
       "bound to its own CPUs, where the step has just as many as its tasks ask for. Other ways "
       "of Slurm's srun bind in this way, too, and are named in a warning. With verbose, before "
       "it, each task says on its standard error which CPUs it may use. Default: as the job was "
       "submitted.",
       [&task, &w](const std::string& text) -> Status {
         task.bind = w.bound = true;
         task.tells_cpus = false;
         if (text == "auto") return {};
         const Result<CpuBind> bind = parse_cpu_bind(text);
         if (!bind) return fail(bind.error());
         task.bind = bind->kind != CpuBindKind::none;
         task.tells_cpus = bind->verbose;
         w.other_binding = is_bound_otherwise(bind->kind) ? text : std::string();
         return {};
       },
       {"cpu_bind"}},
      {0, "gpu-bind", "[verbose,]KIND",
       "Which GPUs of the step a task uses: see GPUS OF A STEP. Default: as the job was submitted.",
       set_text(w.resources.gpu_bind)},
      {0,
       "mem-bind",
       "[verbose,][prefer,]KIND",
       "NUMA nodes whose memory a task uses: see MEMORY OF A TASK. Default: as the job was "
       "submitted.",
       set_text(w.resources.mem_bind),
       {"mem_bind"}},
      {0, "mpi", "TYPE",
       "How a program of MPI finds the others: pmi1 (default), which MPICH and its relatives use; "
       "pmix, which Open MPI uses and libpmix.so.2 provides; or none. pmi2 is pmi1 with a warning. "
       "list: print these and end.",
       set_text(w.mpi)}};
  table.unsupported = refused_options();
  cli::add_common_options(table, w.common);
  add_allocation_options(table, w, now);
  return table;
}

}  // namespace ares::arun
