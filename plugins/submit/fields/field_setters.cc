#include "submit/fields/field_setters.h"

#include <string_view>

#include "cli/output/text.h"
#include "cli/values/gpu_values.h"
#include "cli/values/spec_values.h"

namespace ares::submit {
namespace {

using Spec = api::JobSpec;

constexpr double kMemoryPerCpu = 9223372036854775808.0;

void keep_memory_of(Spec& spec, bool node) {
  if (node)
    spec.clear_memory_per_cpu();
  else
    spec.clear_memory_per_node();
  spec.clear_memory_per_gpu();
}

std::string without_prefix(std::string text) {
  for (const std::string_view prefix : {"gres/", "gres:"})
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return text;
}

}  // namespace

Result<std::int64_t> whole_number(const FieldValue& value, std::int64_t least, std::int64_t most) {
  return cli::parse_integer(text_of(value), least, most);
}

Status set_least_nodes(Spec& spec, const FieldValue& value) {
  spec.clear_node_counts();
  return set_count<&Spec::set_min_nodes>(spec, value);
}

Status set_most_nodes(Spec& spec, const FieldValue& value) {
  spec.clear_node_counts();
  return set_count<&Spec::set_max_nodes>(spec, value);
}

Status set_limit(Spec& spec, const FieldValue& value) {
  spec.clear_time_limit();
  if (is_unset(value)) return {};
  if (const auto* number = std::get_if<double>(&value); number && *number == kInfinite)
    return cli::set_time_limit(spec, "UNLIMITED");
  return cli::set_time_limit(spec, text_of(value));
}

Status set_memory(Spec& spec, const FieldValue& value) {
  spec.clear_memory_per_node();
  if (is_unset(value)) return {};
  // Near it numbers of Lua that are no integers are 2048 apart.
  if (const auto* number = std::get_if<double>(&value); number && *number >= kMemoryPerCpu)
    return invalid("for memory of each CPU set min_mem_per_cpu");
  keep_memory_of(spec, true);
  return cli::set_memory_per_node(spec, text_of(value));
}

Status set_memory_of_cpus(Spec& spec, const FieldValue& value) {
  spec.clear_memory_per_cpu();
  if (is_unset(value)) return {};
  keep_memory_of(spec, false);
  return cli::set_memory_per_cpu(spec, text_of(value));
}

Status set_priority(Spec& spec, const FieldValue& value) {
  spec.clear_priority();
  if (is_unset(value)) return {};
  const auto priority = whole_number(value, 0, 4'294'967'293);
  if (!priority) return fail(priority.error());
  if (*priority == 0)
    spec.set_hold(true);  // as in Slurm
  else
    spec.set_priority(static_cast<std::uint32_t>(*priority));
  return {};
}

Status set_requeue(Spec& spec, const FieldValue& value) {
  spec.clear_requeue();
  if (is_unset(value)) return {};
  const std::string text = text_of(value);
  if (text != "0" && text != "1") return invalid(quote(text) + " is neither 0 nor 1");
  spec.set_requeue(text == "1");
  return {};
}

Status set_shared(Spec& spec, const FieldValue& value) {
  const std::string text = is_unset(value) ? "1" : text_of(value);
  if (text != "0" && text != "1" && text != "2")
    return invalid(quote(text) + " is none of slurm.JOB_SHARED_NONE, _OK and _USER");
  spec.set_exclusive(text == "0");
  spec.set_exclusive_user(text == "2");
  return {};
}

Status set_path(std::string* path, const FieldValue& value, bool is_absolute) {
  const std::string text = is_unset(value) ? "" : text_of(value);
  if (has_control(text)) return invalid("it holds a control character");
  if (is_absolute && !text.starts_with('/')) return invalid(quote(text) + " is no absolute path");
  *path = text;
  return {};
}

Result<std::string> gpus_alone(const FieldValue& value) {
  std::string text = without_prefix(text_of(value));
  if (text == "gpu") return std::string("1");
  if (!text.starts_with("gpu:") && !text.starts_with("gpu="))
    return invalid(quote(text_of(value)) + " is not gres/gpu:[TYPE:]COUNT");
  return text.substr(4);
}

Status set_cpus_of_gpus(Spec& spec, const FieldValue& value) {
  spec.clear_cpus_per_gpu();
  if (is_unset(value) || text_of(value).empty()) return {};
  const auto count = gpus_alone(value);
  if (!count) return fail(count.error());
  return set_count<&Spec::set_cpus_per_gpu>(spec, FieldValue(*count));
}

Status set_memory_of_gpus(Spec& spec, const FieldValue& value) {
  spec.clear_memory_per_gpu();
  if (is_unset(value) || text_of(value).empty()) return {};
  const auto amount = gpus_alone(value);
  if (!amount) return fail(amount.error());
  spec.clear_memory_per_cpu();
  spec.clear_memory_per_node();
  return cli::set_memory_per_gpu(spec, *amount);
}

void clear_alternatives(Spec& spec, api::GpusPer per) {
  if (spec.alternatives_per() != per) return;
  spec.clear_gpu_alternatives();
  spec.clear_alternatives_per();
}

Status set_gpus_of_nodes(Spec& spec, const FieldValue& value) {
  spec.clear_gpus_per_node();
  clear_alternatives(spec, api::PER_NODE);
  if (is_unset(value) || text_of(value).empty()) return {};
  return cli::set_gres(spec, without_prefix(text_of(value)));
}

}  // namespace ares::submit
