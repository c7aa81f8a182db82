// Parses GPU requests: counts, types and alternatives (spec_values.h).
#include "cli/values/gpu_values.h"

#include <utility>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"

namespace ares::cli {
namespace {

using List = google::protobuf::RepeatedPtrField<api::GpuRequest>;
using AddList = Status (*)(List& list, const std::string& text);

constexpr std::uint64_t kMaxCount = 1'000'000;

// A fraction in place of a count: 0.5 or a100:0.5.
Status add_part(List& list, const std::string& type, const std::string& digits) {
  const auto part = parse_gpu_part(digits);
  if (!part) return fail(part.error());
  auto* gpu = list.Add();
  gpu->set_type(type);
  gpu->set_part(*part);
  return {};
}

// h100:4,a100:2, h100:0.5
Status add_gpus(List& list, const std::string& text) {
  for (const std::string& item : split(text, ',')) {
    const std::size_t colon = item.rfind(':');
    const std::string type = colon == std::string::npos ? "" : item.substr(0, colon);
    const std::string digits = colon == std::string::npos ? item : item.substr(colon + 1);
    const bool typed_well = colon == std::string::npos ||
                            (!type.empty() && type.find_first_of(":=") == std::string::npos);
    if (looks_like_part(digits) && typed_well) {
      if (Status added = add_part(list, type, digits); !added) return added;
      continue;
    }
    const auto count = parse_number(digits, kMaxCount);
    if (!count || !typed_well) return invalid(quote(item) + " is not [TYPE:]COUNT");
    if (*count == 0) continue;
    auto* gpu = list.Add();
    gpu->set_type(type);
    gpu->set_count(static_cast<std::uint32_t>(*count));
  }
  return {};
}

// What follows "mps": hundredths of one GPU, as Slurm shares it by default: 50, a100:50.
Status add_mps(List& list, const std::string& rest) {
  constexpr std::uint64_t kOfOneGpu = 100;
  const std::size_t colon = rest.rfind(':');
  const std::string type = colon == std::string::npos ? "" : rest.substr(0, colon);
  const auto hundredths =
      parse_number(colon == std::string::npos ? rest : rest.substr(colon + 1), kOfOneGpu);
  if (!hundredths || *hundredths == 0 || type.find_first_of(":=") != std::string::npos)
    return invalid("mps:" + rest +
                   " is not mps:[TYPE:]COUNT, with a count of 1 to 100 for one GPU");
  auto* gpu = list.Add();
  gpu->set_type(type);
  if (*hundredths == kOfOneGpu)
    gpu->set_count(1);
  else
    gpu->set_part(static_cast<std::uint32_t>(*hundredths * kWholeGpu / kOfOneGpu));
  return {};
}

// gpu, gpu:2, gpu:a100, gpu:a100:2, gpu:0.5, gpu:a100:0.5, mps:50
Status add_gres(List& list, const std::string& text) {
  if (text.empty()) return invalid("empty; write gpu:COUNT or gpu:TYPE:COUNT");
  for (std::string item : split(text, ',')) {
    if (item.starts_with("gres/")) item.erase(0, 5);
    const std::size_t colon = item.find(':');
    const std::string name = item.substr(0, colon);
    if (name == "mps" && colon != std::string::npos) {
      if (Status added = add_mps(list, item.substr(colon + 1)); !added) return added;
      continue;
    }
    if (name == "shard")
      return invalid(
          "how many shards a GPU has is not known here; say a part of one GPU, such as gpu:0.25");
    if (name != "gpu")
      return invalid("the generic resource " + quote(name) + " is not supported yet");
    std::string rest = colon == std::string::npos ? "1" : item.substr(colon + 1);
    // gpu:a100 means one GPU of that type.
    const std::string last = rest.substr(rest.rfind(':') + 1);
    const bool part = looks_like_part(last);
    if (!part && !parse_number(last, kMaxCount)) rest += ":1";
    if (Status added = add_gpus(list, rest); !added)
      return part ? added : invalid(quote(item) + " is not gpu[:TYPE][:COUNT]");
  }
  return {};
}

List& list_of(api::JobSpec& spec, api::GpusPer per) {
  if (per == api::PER_JOB) return *spec.mutable_gpus_total();
  return per == api::PER_TASK ? *spec.mutable_gpus_per_task() : *spec.mutable_gpus_per_node();
}
const List& list_of(const api::JobSpec& spec, api::GpusPer per) {
  if (per == api::PER_JOB) return spec.gpus_total();
  return per == api::PER_TASK ? spec.gpus_per_task() : spec.gpus_per_node();
}

// LIST@COST
Status add_alternative(api::JobSpec& spec, const std::string& text, AddList add) {
  auto* alternative = spec.add_gpu_alternatives();
  alternative->set_cost(kPlainCost);
  const std::size_t at = text.find('@');
  if (at != std::string::npos) {
    const auto cost = parse_gpu_cost(std::string_view(text).substr(at + 1));
    if (!cost) return fail(cost.error());
    alternative->set_cost(*cost);
  }
  const std::string gpus = text.substr(0, at);
  if (Status added = add(*alternative->mutable_gpus(), gpus); !added) return added;
  if (alternative->gpus().empty())
    return invalid(quote(text) + " asks for no GPU; each alternative must ask for some");
  return {};
}

// Replaces the earlier contents of the list.
Status set_list(api::JobSpec& spec, api::GpusPer per, const std::string& text, AddList add) {
  List& list = list_of(spec, per);
  list.Clear();
  if (spec.alternatives_per() == per) spec.clear_gpu_alternatives();
  if (text.find('|') == std::string::npos) {
    if (text.find('@') != std::string::npos)
      return invalid(quote(text) + ": a cost (@) is for one of several alternatives: A|B@1.5");
    return add(list, text);
  }
  spec.clear_gpu_alternatives();
  spec.set_alternatives_per(per);
  for (const std::string& one : split(text, '|'))
    if (Status added = add_alternative(spec, std::string(trim(one)), add); !added) return added;
  list = spec.gpu_alternatives(0).gpus();
  return {};
}

void put_list(const List& gpus, const std::string& before, std::string& out) {
  bool first = true;
  for (const api::GpuRequest& gpu : gpus) {
    out += (first ? "" : ",") + before + (gpu.type().empty() ? "" : gpu.type() + ":") +
           format_thousandths(std::int64_t{gpu.count()} * kWholeGpu + gpu.part());
    first = false;
  }
}

}  // namespace

Status set_gpus_per_task(api::JobSpec& spec, const std::string& text) {
  return set_list(spec, api::PER_TASK, text, add_gpus);
}

Status set_gpus_total(api::JobSpec& spec, const std::string& text) {
  return set_list(spec, api::PER_JOB, text, add_gpus);
}

Status set_gpus_per_node(api::JobSpec& spec, const std::string& text) {
  return set_list(spec, api::PER_NODE, text, add_gpus);
}

Status set_gres(api::JobSpec& spec, const std::string& text) {
  if (lower(text) != "none") return set_list(spec, api::PER_NODE, text, add_gres);
  spec.clear_gpus_per_node();
  if (spec.alternatives_per() == api::PER_NODE) spec.clear_gpu_alternatives();
  return {};
}

std::string format_gpu_list(const api::JobSpec& spec, api::GpusPer per, const std::string& before) {
  std::string text;
  if (spec.gpu_alternatives().empty() || spec.alternatives_per() != per) {
    put_list(list_of(spec, per), before, text);
    return text;
  }
  for (const api::GpuAlternative& one : spec.gpu_alternatives()) {
    if (!text.empty()) text += "|";
    put_list(one.gpus(), before, text);
    if (one.cost() != kPlainCost) text += "@" + format_gpu_cost(one.cost());
  }
  return text;
}

std::map<std::uint32_t, std::uint64_t> gpus_in_use(const api::Node& node) {
  std::map<std::uint32_t, std::uint64_t> used;
  for (int i = 0; i < node.gpus_allocated_size(); ++i)  // Older controllers do not send fractions.
    used[node.gpus_allocated(i)] +=
        i < node.gpu_parts_allocated_size() ? node.gpu_parts_allocated(i) : kWholeGpu;
  return used;
}

}  // namespace ares::cli
