#include "arun/step_resources.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "base/duration.h"
#include "base/printable.h"
#include "base/units.h"
#include "cli/values/spec_values.h"
#include "model/job/binding_options.h"
#include "proto/gen/api.pb.h"

namespace ares::arun {
namespace {

using Read = Status (*)(api::JobSpec& spec, const std::string& text);
using Gpus = google::protobuf::RepeatedPtrField<api::GpuRequest>;

// The count; the type goes to the request.
Result<std::uint32_t> read_gpus(const char* option, const std::string& text, Read read,
                                const Gpus& (*of)(const api::JobSpec&),
                                steps::StepRequest& request) {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, std::string("--") + option + "=" + text + ": " + why);
  };
  api::JobSpec spec;
  if (const Status good = read(spec, text); !good) return bad(good.error().message);
  if (spec.gpu_alternatives_size() > 0) return bad("a step cannot have alternatives");
  const Gpus& gpus = of(spec);
  if (gpus.empty()) return 0;
  if (gpus.size() > 1) return bad("a step can ask for one type of GPU");
  const api::GpuRequest& gpu = gpus.Get(0);
  if (gpu.part() != 0) return bad("a step cannot have a part of a GPU");
  std::string& type = request.task.gpu_type;
  if (!type.empty() && !gpu.type().empty() && type != gpu.type())
    return bad("another option asks for GPUs of type " + quote(type));
  if (!gpu.type().empty()) type = gpu.type();
  return gpu.count();
}

const Gpus& per_job(const api::JobSpec& spec) {
  return spec.gpus_total();
}
const Gpus& per_node(const api::JobSpec& spec) {
  return spec.gpus_per_node();
}
const Gpus& per_task(const api::JobSpec& spec) {
  return spec.gpus_per_task();
}

Status set_gpus(const StepResources& wanted, steps::StepRequest& request) {
  if (!wanted.gpus.empty()) {
    const auto count = read_gpus("gpus", wanted.gpus, cli::set_gpus_total, per_job, request);
    if (!count) return fail(count.error());
    request.gpus = *count;
  }
  if (!wanted.gpus_per_node.empty()) {
    const auto count =
        read_gpus("gpus-per-node", wanted.gpus_per_node, cli::set_gpus_per_node, per_node, request);
    if (!count) return fail(count.error());
    request.gpus_per_node = *count;
  }
  if (wanted.gres == "none") {
    request.gpus_per_node = 0;
  } else if (!wanted.gres.empty()) {
    const auto count = read_gpus("gres", wanted.gres, cli::set_gres, per_node, request);
    if (!count) return fail(count.error());
    request.gpus_per_node = *count;
  }
  if (request.gpus && request.gpus_per_node)
    return fail(ErrorCode::invalid_argument,
                "--gpus is about all nodes of the step, --gpus-per-node and --gres are about each "
                "of them; give one");
  return {};
}

Result<std::int64_t> read_memory(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  const Result<Bytes> amount = parse_memory(text);
  if (!amount)
    return fail(amount.error().code, std::string("--") + option + ": " + amount.error().message);
  return amount->value();
}

Status set_memory(const StepResources& wanted, steps::StepRequest& request) {
  const auto per_node = read_memory("mem", wanted.memory_per_node);
  if (!per_node) return fail(per_node.error());
  const auto per_cpu = read_memory("mem-per-cpu", wanted.memory_per_cpu);
  if (!per_cpu) return fail(per_cpu.error());
  request.task.memory_per_node = *per_node;
  request.task.memory_per_cpu = *per_cpu;
  return {};
}

Status set_time(const StepResources& wanted, steps::StepRequest& request) {
  if (wanted.time.empty()) return {};
  const Result<TimeLimit> limit = parse_time_limit(wanted.time);
  if (!limit) return fail(limit.error().code, "--time: " + limit.error().message);
  const std::int64_t seconds = *limit ? (**limit).count() : 0;
  if (seconds > std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::invalid_argument, "--time=" + wanted.time + " is too long for a step");
  request.time_limit = static_cast<std::uint32_t>(seconds);
  return {};
}

}  // namespace

Status set_resources(const StepResources& wanted, bool in_own_job, steps::StepRequest& request) {
  if (!in_own_job) {
    if (Status set = set_gpus(wanted, request); !set) return set;
    if (Status set = set_memory(wanted, request); !set) return set;
    if (Status set = set_time(wanted, request); !set) return set;
  }
  if (wanted.gpus_per_task.empty()) return {};
  // The job may have alternatives, or a part of a GPU, which its only task sees.
  if (in_own_job && wanted.gpus_per_task.find_first_of("|@.,") != std::string::npos) return {};
  const auto count =
      read_gpus("gpus-per-task", wanted.gpus_per_task, cli::set_gpus_per_task, per_task, request);
  if (!count) return fail(count.error());
  request.task.gpus_per_task = *count;
  return {};
}

Status set_gpu_bind(const StepResources& wanted, const char* of_job, steps::StepRequest& request) {
  const bool is_given = !wanted.gpu_bind.empty();
  const std::string text = is_given ? wanted.gpu_bind : of_job ? of_job : "";
  const Result<GpuBind> bind = parse_gpu_bind(text);
  if (!bind) return fail(bind.error().code, "--gpu-bind: " + bind.error().message);
  request.task.gpu_bind = text;
  if (bind->kind != GpuBindKind::per_task) return {};
  std::uint32_t& each = request.task.gpus_per_task;
  if (is_given && each != 0 && each != bind->count)
    return fail(ErrorCode::invalid_argument,
                "--gpu-bind=" + text + " contradicts --gpus-per-task=" + std::to_string(each));
  if (each == 0) each = bind->count;
  return {};
}

Status set_mem_bind(const StepResources& wanted, const char* of_job, steps::StepRequest& request) {
  const std::string text = !wanted.mem_bind.empty() ? wanted.mem_bind : of_job ? of_job : "";
  if (const Result<MemBind> bind = parse_mem_bind(text); !bind)
    return fail(bind.error().code, "--mem-bind: " + bind.error().message);
  request.task.mem_bind = text;
  return {};
}

}  // namespace ares::arun
