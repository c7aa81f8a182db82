// What the options of arun leave open, from the environment of the job.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "arun/multi_prog.h"
#include "arun/options.h"
#include "arun/step_layout.h"
#include "base/hostlist.h"
#include "base/printable.h"

namespace ares::arun {
namespace {

constexpr std::size_t kMostNodes = 100'000;

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

}  // namespace

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
      std::fprintf(stderr, "%s: warning: %u tasks cannot run on %u nodes; they run on %u\n",
                   w.program.c_str(), *w.tasks, *w.nodes, *w.tasks);
  }
  if ((request.task.tasks_per_core != 0 || request.task.tasks_per_socket != 0) && w.bound &&
      !request.task.bind)
    return fail(ErrorCode::invalid_argument,
                "--cpu-bind=none contradicts --ntasks-per-core and --ntasks-per-socket, which bind "
                "each task to its CPUs");
  if (!w.other_binding.empty() && !w.quiet)
    std::fprintf(stderr, "%s: warning: --cpu-bind=%s: each task is bound to its own CPUs\n",
                 w.program.c_str(), w.other_binding.c_str());
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
  if (Status chosen =
          choose_distribution(w.distribution, value_of(environment, "ARES_DISTRIBUTION"),
                              w.quiet ? "" : w.program, request);
      !chosen)
    return fail(chosen.error());
  if (!w.bound) choose_binding(value_of(environment, "ARES_CPU_BIND"), request);
  if (Status chosen = choose_mpi(w.mpi, w.program, request); !chosen) return fail(chosen.error());
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
