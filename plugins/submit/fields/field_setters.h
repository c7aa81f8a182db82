// How scripts set the fields of a job: each takes the value back when it is given nothing, and is parsed as the option of asub is.
// invalid_argument: what is wrong with the value. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/printable.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "submit/fields/field_value.h"

namespace ares::submit {

using SetByOption = Status (*)(api::JobSpec&, const std::string&);

Status set_least_nodes(api::JobSpec& spec, const FieldValue& value);
Status set_most_nodes(api::JobSpec& spec, const FieldValue& value);
Status set_limit(api::JobSpec& spec, const FieldValue& value);
// Of each node. What is taken back leaves memory of CPUs and GPUs alone: scripts set one and take back the other, in any order.
Status set_memory(api::JobSpec& spec, const FieldValue& value);
Status set_memory_of_cpus(api::JobSpec& spec, const FieldValue& value);
Status set_memory_of_gpus(api::JobSpec& spec, const FieldValue& value);
Status set_cpus_of_gpus(api::JobSpec& spec, const FieldValue& value);
Status set_gpus_of_nodes(api::JobSpec& spec, const FieldValue& value);
// 0 holds the job, as in Slurm.
Status set_priority(api::JobSpec& spec, const FieldValue& value);
Status set_requeue(api::JobSpec& spec, const FieldValue& value);
Status set_shared(api::JobSpec& spec, const FieldValue& value);
Status set_path(std::string* path, const FieldValue& value, bool is_absolute);

// --- parts of the templates below

Result<std::int64_t> whole_number(const FieldValue& value, std::int64_t least, std::int64_t most);
// "a100:2" of "gres/gpu:a100:2", which the options' parsers take.
Result<std::string> gpus_alone(const FieldValue& value);
// Takes back the alternatives that stand for this list.
void clear_alternatives(api::JobSpec& spec, api::GpusPer per);

// With an option's parser, after `clear`, which an empty value is left with.
template <void (api::JobSpec::*clear)(), SetByOption set>
Status set_by_option(api::JobSpec& spec, const FieldValue& value) {
  (spec.*clear)();
  return is_unset(value) || text_of(value).empty() ? Status{} : set(spec, text_of(value));
}

template <void (api::JobSpec::*set)(const std::string&)>
Status set_text(api::JobSpec& spec, const FieldValue& value) {
  const std::string text = is_unset(value) ? "" : text_of(value);
  if (has_control(text)) return fail(ErrorCode::invalid_argument, "it holds a control character");
  (spec.*set)(text);
  return {};
}

template <void (api::JobSpec::*set)(std::uint32_t)>
Status set_count(api::JobSpec& spec, const FieldValue& value) {
  const auto count =
      is_unset(value) ? Result<std::int64_t>(0) : whole_number(value, 1, 1'000'000'000);
  if (!count) return fail(count.error());
  (spec.*set)(static_cast<std::uint32_t>(*count));
  return {};
}

// Parsers of node lists read a file where the list is a path.
template <SetByOption set, void (api::JobSpec::*clear)()>
Status set_hosts(api::JobSpec& spec, const FieldValue& value) {
  if (text_of(value).find('/') != std::string::npos)
    return fail(ErrorCode::invalid_argument, "a host list has no /");
  return set_by_option<clear, set>(spec, value);
}

template <void (api::JobSpec::*set)(std::int64_t), void (api::JobSpec::*clear)()>
Status set_time(api::JobSpec& spec, const FieldValue& value) {
  (spec.*clear)();
  if (is_unset(value)) return {};
  const auto at = whole_number(value, 0, 253'402'300'799);  // the end of the year 9999
  if (!at) return fail(at.error());
  if (*at > 0) (spec.*set)(*at * 1'000'000);
  return {};
}

template <api::GpusPer per, void (api::JobSpec::*clear)(), SetByOption set>
Status set_gpus(api::JobSpec& spec, const FieldValue& value) {
  (spec.*clear)();
  clear_alternatives(spec, per);
  if (is_unset(value) || text_of(value).empty()) return {};
  const auto gpus = gpus_alone(value);
  return gpus ? set(spec, *gpus) : Status(fail(gpus.error()));
}

}  // namespace ares::submit
