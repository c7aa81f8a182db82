#include "arun/options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>

#include "arun/multi_prog.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "model/job/binding_options.h"
#include "steps/task_environment.h"
#include "submission/allocation_request.h"

namespace ares::arun {
namespace {

constexpr const char* kContainersOfSteps =  // which pyxis gives them
    "a step has no container of its own; start it as its program: arun apptainer exec IMAGE PROG";
using cli::set_flag;
using cli::set_text;

constexpr std::uint32_t kMost = 1'000'000;
constexpr std::size_t kMostNodes = 100'000;

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number > kMost)
    return std::nullopt;
  return number;
}

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

const char* value_of(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& variable : environment)
    if (variable.starts_with(name + "=")) return variable.c_str() + name.size() + 1;
  return nullptr;
}

std::optional<std::uint32_t> number_from(const std::vector<std::string>& environment,
                                         const std::string& name) {
  const char* const value = value_of(environment, name);
  return value ? number_of(value) : std::nullopt;
}

Result<std::vector<std::string>> exported(const std::string& names,
                                          const std::vector<std::string>& environment) {
  if (names.empty() || names == "ALL") return environment;
  std::vector<std::string> result;
  std::vector<std::string> wanted;
  for (std::string_view rest = names; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    wanted.emplace_back(item);
  }
  const bool all = std::find(wanted.begin(), wanted.end(), "ALL") != wanted.end();
  for (const std::string& variable : environment) {
    const std::string name = variable.substr(0, variable.find('='));
    // Those that describe the job stay, as for a job that exports nothing.
    if (all || name.starts_with("ARES_") || name.starts_with("SLURM_") || name == "PATH" ||
        name == "HOME" || name == "USER" || name == "LOGNAME" || name == "SHELL" ||
        std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      result.push_back(variable);
  }
  for (const std::string& item : wanted)
    if (item.find('=') != std::string::npos) result.push_back(item);
  return result;
}

// A way of srun that a step does not know.
bool is_bound_otherwise(CpuBindKind kind) {
  return kind != CpuBindKind::unset && kind != CpuBindKind::none && kind != CpuBindKind::cores &&
         kind != CpuBindKind::threads;
}

// Whether each task, or each node, has a file of its own.
bool differs_by_task(const std::string& pattern) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    std::size_t end = i + 1;
    while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9') ++end;
    if (end < pattern.size() && (pattern[end] == 't' || pattern[end] == 'n' || pattern[end] == 'N'))
      return true;
    i = end;
  }
  return false;
}

struct Kept {
  std::string file;
  std::optional<std::uint32_t> rank;
  bool none = false;
};

// `in_task` gets the pattern if the tasks open the file.
Kept sort_output(const std::string& given, std::string& in_task) {
  Kept kept;
  if (given.empty() || given == "all") return kept;
  if (given == "none") {
    kept.none = true;
  } else if (const auto rank = number_of(given)) {
    kept.rank = rank;
  } else if (differs_by_task(given)) {
    in_task = given;
  } else {
    kept.file = given;
  }
  return kept;
}

Status choose_distribution(Wanted& wanted) {
  const std::string first = wanted.distribution.substr(0, wanted.distribution.find_first_of(":,"));
  if (first.empty() || first == "block" || first == "*") return {};
  if (first == "cyclic") {
    wanted.request.spread = steps::Spread::cyclic;
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              "--distribution=" + wanted.distribution + ": a step knows block and cyclic");
}

// --relative excludes the nodes before.
Status choose_first_node(Wanted& w, const std::vector<std::string>& environment) {
  if (w.relative == 0) return {};
  const char* const list = value_of(environment, "ARES_JOB_NODELIST");
  const Result<std::vector<std::string>> nodes = expand_hostlist(list ? list : "", kMostNodes);
  if (!nodes) return fail(nodes.error());
  if (w.relative >= nodes->size())
    return fail(ErrorCode::invalid_argument, "--relative=" + std::to_string(w.relative) +
                                                 ": the job has " + std::to_string(nodes->size()) +
                                                 " nodes, counted from 0");
  const std::vector<std::string> before(nodes->begin(),
                                        nodes->begin() + static_cast<std::ptrdiff_t>(w.relative));
  w.excluded += (w.excluded.empty() ? "" : ",") + compress_hostlist(before);
  return {};
}

// The file of --multi-prog in place of a program.
Status read_programs(Wanted& w, const std::vector<std::string>& operands) {
  if (operands.size() != 1)
    return fail(ErrorCode::invalid_argument, "with --multi-prog name one file and nothing else");
  std::ifstream file(operands.front(), std::ios::binary);
  if (!file) return fail(ErrorCode::not_found, "cannot read " + operands.front());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<std::vector<steps::Program>> programs = read_multi_prog(text, operands.front());
  if (!programs) return fail(programs.error());
  w.request.task.programs = std::move(*programs);
  return {};
}

Status choose_mpi(Wanted& wanted) {
  steps::Mpi& mpi = wanted.request.task.mpi;
  if (wanted.mpi == "none")
    mpi = steps::Mpi::none;
  else if (wanted.mpi.empty() || wanted.mpi == "pmi1")
    mpi = steps::Mpi::pmi1;
  else if (wanted.mpi.starts_with("pmix"))  // pmix_v4 of Slurm, too
    mpi = steps::Mpi::pmix;
  else if (wanted.mpi == "pmi2") {
    // Slurm's server of that name understands both.
    std::fputs(
        "arun: warning: --mpi=pmi2: programs find PMI-1; one whose library knows PMI-2 alone needs "
        "--mpi=pmix\n",
        stderr);
    mpi = steps::Mpi::pmi1;
  } else
    return fail(
        ErrorCode::invalid_argument,
        "--mpi=" + wanted.mpi + ": it is pmi1 (MPICH and its relatives), pmix (Open MPI) or none");
  return {};
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
  for (cli::Option& option : submission::allocation_options(w.allocation, now).options) {
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
       set_count([&task](std::uint32_t n) { task.cpus_per_task = n; })},
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
      {0, "ntasks-per-node", "N", "At most N tasks on a node.",
       set_count([&request](std::uint32_t n) { request.tasks_per_node = n; })},
      {'w', "nodelist", "NODES", "Run on these nodes of the job only.", set_text(w.node_list)},
      {'x', "exclude", "NODES", "Run on no node of these.", set_text(w.excluded)},
      {'m', "distribution", "WAY",
       "block: ranks that follow each other share a node; cyclic: they go round the nodes.",
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
       "WAY",
       "none: tasks may use all CPUs of the step. auto (default), cores, threads: each task is "
       "bound to its own CPUs, where the step has just as many as its tasks ask for. Other ways "
       "of Slurm's srun bind in this way, too, and are named in a warning.",
       [&task, &w](const std::string& text) -> Status {
         task.bind = true;
         if (text == "auto") return {};
         const Result<CpuBind> bind = parse_cpu_bind(text);
         if (!bind) return fail(bind.error());
         task.bind = bind->kind != CpuBindKind::none;
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
       "pmix, which Open MPI uses and libpmix.so.2 provides; or none. pmi2 is pmi1 with a warning.",
       set_text(w.mpi)}};
  table.unsupported = {{'p', "partition"},   {'A', "account"},
                       {0, "qos"},           {0, "het-group"},
                       {0, "x11", false},    {0, "prolog"},
                       {0, "epilog"},        {0, "send-libs"},
                       {0, "bcast-exclude"}, {'E', "preserve-env", false}};
  for (const char* option : {"container-image", "container-mounts", "container-workdir"})
    table.unsupported.push_back({0, option, true, kContainersOfSteps});
  cli::add_common_options(table, w.common);
  add_allocation_options(table, w, now);
  return table;
}

Result<Streams> complete(Wanted& w, const std::vector<std::string>& environment,
                         const std::vector<std::string>& operands) {
  steps::StepRequest& request = w.request;
  if (operands.empty())
    return fail(ErrorCode::invalid_argument, "name the program to run: arun [OPTIONS] PROGRAM");
  request.task.arguments = operands;
  if (w.multi_prog)
    if (Status read = read_programs(w, operands); !read) return fail(read.error());
  // What the job was submitted with, unless the options say something else about the same.
  const bool laid_out = w.nodes || request.tasks_per_node != 0;
  request.tasks = w.tasks    ? *w.tasks
                  : laid_out ? 0
                             : number_from(environment, "ARES_NTASKS").value_or(1);
  request.nodes = w.nodes ? *w.nodes
                  : w.tasks || !w.node_list.empty()
                      ? 0
                      : number_from(environment, "ARES_NNODES").value_or(0);
  if (w.nodes && w.tasks && *w.nodes > *w.tasks) {  // each node has a task, as in srun
    request.nodes = *w.tasks;
    if (!w.quiet)
      std::fprintf(stderr, "arun: warning: %u tasks cannot run on %u nodes; they run on %u\n",
                   *w.tasks, *w.nodes, *w.tasks);
  }
  if (!w.other_binding.empty() && !w.quiet)
    std::fprintf(stderr, "arun: warning: --cpu-bind=%s: each task is bound to its own CPUs\n",
                 w.other_binding.c_str());
  if (number_from(environment, "ARES_OVERCOMMIT").value_or(0) > 0) request.overcommit = true;
  if (request.task.cpus_per_task == 0)
    request.task.cpus_per_task =
        std::max(1U, number_from(environment, "ARES_CPUS_PER_TASK").value_or(1));
  if (Status set = set_gpu_bind(w.resources, value_of(environment, "ARES_GPU_BIND"), request); !set)
    return fail(set.error());
  if (Status set = set_mem_bind(w.resources, value_of(environment, "ARES_MEM_BIND"), request); !set)
    return fail(set.error());
  if (Status chosen = choose_first_node(w, environment); !chosen) return fail(chosen.error());
  for (auto& [text, names] :
       {std::pair<const std::string&, std::vector<std::string>&>{w.node_list, request.wanted_nodes},
        {w.excluded, request.excluded_nodes}}) {
    if (text.empty()) continue;
    Result<std::vector<std::string>> list = expand_hostlist(text, kMostNodes);
    if (!list) return fail(list.error());
    names = std::move(*list);
  }
  if (Status chosen = choose_distribution(w); !chosen) return fail(chosen.error());
  if (Status chosen = choose_mpi(w); !chosen) return fail(chosen.error());
  if (!w.open_mode.empty() && w.open_mode != "append" && w.open_mode != "truncate")
    return fail(ErrorCode::invalid_argument,
                "--open-mode is append or truncate: " + quote(w.open_mode));
  request.task.append = w.open_mode == "append";
  Result<std::vector<std::string>> variables = exported(w.export_names, environment);
  if (!variables) return fail(variables.error());
  request.task.environment = std::move(*variables);

  Streams streams;
  const Kept output = sort_output(w.output, request.task.output);
  const Kept errors = sort_output(w.errors.empty() ? w.output : w.errors, request.task.errors);
  streams.output = output.file;
  streams.output_rank = output.rank;
  streams.no_output = output.none;
  streams.errors = errors.file;
  streams.errors_rank = errors.rank;
  streams.no_errors = errors.none;
  streams.sends_input = w.input != "none";
  if (const auto rank = number_of(w.input))
    request.task.input_rank = *rank;
  else if (!w.input.empty() && w.input != "all" && w.input != "none") {
    request.task.input = w.input;
    streams.sends_input = false;
  }
  request.task.pty = w.pty;
  return streams;
}

}  // namespace ares::arun
