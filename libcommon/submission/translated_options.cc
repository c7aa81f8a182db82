#include "submission/translated_options.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/binding_values.h"
#include "cli/values/spec_values.h"

namespace ares::submission {
namespace {

constexpr std::string_view kGpu = "gres/gpu";

Status bad(const std::string& message) {
  return fail(ErrorCode::invalid_argument, message);
}

// What follows "gres/gpu:" or "gres/gpu="; empty for "gres/gpu" itself. None: it names something else.
std::optional<std::string> after_gpu(std::string_view item) {
  if (!item.starts_with(kGpu)) return std::nullopt;
  item.remove_prefix(kGpu.size());
  if (item.empty()) return std::string();
  if (item.front() != ':' && item.front() != '=') return std::nullopt;
  return std::string(item.substr(1));
}

// "gres/gpu:single:2"
Status set_tres_bind(api::JobSpec& spec, const std::string& text) {
  const auto bind = after_gpu(text);
  if (!bind || bind->empty())
    return bad(quote(text) + " is not gres/gpu:KIND, with a KIND of --gpu-bind");
  return cli::set_gpu_bind(spec, *bind);
}

// A word without a slash is a file here, unlike that of --nodelist.
Status set_node_file(api::JobSpec& spec, const std::string& path) {
  if (path.empty()) return bad("name a file");
  return cli::set_required_nodes(spec, path.find('/') == std::string::npos ? "./" + path : path);
}

std::uint64_t count(const google::protobuf::RepeatedPtrField<api::GpuRequest>& gpus) {
  std::uint64_t sum = 0;
  for (const api::GpuRequest& gpu : gpus) sum += gpu.count();
  return sum;
}

bool are_parts(const google::protobuf::RepeatedPtrField<api::GpuRequest>& gpus) {
  return std::any_of(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu.part() != 0; });
}

}  // namespace

Status set_tres_per_task(api::JobSpec& spec, const std::string& text) {
  for (const std::string& item : cli::split(text, ',')) {
    if (item.starts_with("cpu:") || item.starts_with("cpu=")) {
      if (Status set = cli::set_cpus_per_task(spec, item.substr(4)); !set) return set;
    } else if (auto gpus = after_gpu(item)) {
      std::replace(gpus->begin(), gpus->end(), '=', ':');  // gres/gpu:a100=2
      if (Status set = cli::set_gpus_per_task(spec, gpus->empty() ? "1" : *gpus); !set) return set;
    } else {
      return bad(quote(item) + " is neither cpu=COUNT nor gres/gpu[:TYPE]=COUNT");
    }
  }
  return {};
}

std::vector<cli::Option> translated_options(Submission& target) {
  const auto of_spec = [&target](Status (*set)(api::JobSpec&, const std::string&)) {
    return [&target, set](const std::string& text) { return set(target.spec, text); };
  };
  std::vector<cli::Option> rows = {
      {0, "export-file", "FILE",
       "Take the variables of --export from this file instead of those of the command: NAME=VALUE, "
       "each followed by a zero byte, as env -0 prints them.",
       [&target](const std::string& path) -> Status {
         if (path.empty()) return bad("name a file");
         target.export_file = path;
         return {};
       }},
      {'F', "nodefile", "FILE", "The same as --nodelist with a file.", of_spec(set_node_file)},
      {0, "ntasks-per-gpu", "COUNT",
       "So many tasks for each GPU: with -G or --gpus-per-node and without -n it says how many "
       "tasks, with -n and without GPUs how many GPUs. Each GPU is of one task group, as with "
       "--gpu-bind=single:COUNT.",
       [&target](const std::string& text) -> Status {
         const auto number = cli::parse_integer(text, 1, 1'000'000);
         if (!number) return fail(number.error());
         target.tasks_per_gpu = static_cast<std::uint32_t>(*number);
         return {};
       }},
      {0, "tres-bind", "gres/gpu:KIND", "The same as --gpu-bind=KIND.", of_spec(set_tres_bind)},
      {0, "tres-per-task", "cpu=COUNT,gres/gpu[:TYPE]=COUNT",
       "The same as --cpus-per-task and --gpus-per-task.", of_spec(set_tres_per_task)}};
  for (cli::Option& row : rows) {
    if (row.name == "nodefile") row.excludes = {"nodelist"};
    if (row.name == "ntasks-per-gpu") row.excludes = {"gpus-per-task", "ntasks-per-node"};
    if (row.name == "tres-bind") row.excludes = {"gpu-bind"};
    if (row.name == "tres-per-task") row.excludes = {"cpus-per-task", "gpus-per-task"};
  }
  return rows;
}

Status complete_tasks_per_gpu(Submission& target) {
  api::JobSpec& spec = target.spec;
  const std::uint64_t each = target.tasks_per_gpu;
  if (each == 0) return {};
  const std::string option = "--ntasks-per-gpu=" + std::to_string(each);
  if (spec.gpu_alternatives_size() > 0 || are_parts(spec.gpus_total()) ||
      are_parts(spec.gpus_per_node()))
    return bad(option + " cannot be combined with alternatives or parts of GPUs");
  if (spec.binding().gpu_bind().empty())
    if (Status set = cli::set_gpu_bind(spec, "single:" + std::to_string(each)); !set) return set;
  const std::uint64_t in_total = count(spec.gpus_total()), on_node = count(spec.gpus_per_node());
  if (in_total == 0 && on_node == 0) {
    if (spec.tasks() == 0) return bad(option + " needs a number of tasks (-n) or of GPUs (-G)");
    if (spec.tasks() % each != 0)
      return bad(option + " and " + std::to_string(spec.tasks()) +
                 " tasks leave a GPU with fewer tasks; give a multiple");
    return cli::set_gpus_total(spec, std::to_string(spec.tasks() / each));
  }
  const std::uint64_t tasks =
      each * (in_total != 0 ? in_total : on_node * std::max(spec.min_nodes(), 1u));
  if (tasks > std::numeric_limits<std::uint32_t>::max()) return bad(option + ": too many tasks");
  if (spec.tasks() != 0 && spec.tasks() != tasks)
    return bad(option + " and the GPUs of the job make " + std::to_string(tasks) +
               " tasks, and -n says " + std::to_string(spec.tasks()) + "; leave one out");
  spec.set_tasks(static_cast<std::uint32_t>(tasks));
  if (in_total == 0) spec.set_tasks_per_node(static_cast<std::uint32_t>(each * on_node));
  return {};
}

}  // namespace ares::submission
