#include "exec/kubernetes/agent/nodes/node_object.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "exec/kubernetes/api/rfc3339.h"
#include "model/job/container_feature.h"
#include "model/job/gpu_constraint.h"

namespace ares::kubernetes {
namespace {

constexpr std::string_view kNvidia = "nvidia.com/gpu";
constexpr std::string_view kAmd = "amd.com/gpu";
constexpr std::string_view kMig = "nvidia.com/mig-";
constexpr std::size_t kMostInDomain = 64;  // that a topology of Ares has
constexpr std::int64_t kMostGpuMebibytes = 1 << 30;
constexpr std::int64_t kMostThousandths = std::int64_t{1 << 20} * kWholeCpu;

std::string label_of(const NodeObject& node, const std::string& name) {
  const auto found = node.labels.find(name);
  return found == node.labels.end() ? std::string() : found->second;
}

bool is_capacity(std::string_view word) {
  return word.size() > 2 && word.ends_with("gb") &&
         std::all_of(word.begin(), word.end() - 2,
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "NVIDIA-A100-SXM4-80GB" is "a100", "Tesla-V100-PCIE-16GB" is "v100", "AMD-Instinct-MI250X" is "mi250x": the word that names the
// model, without maker, form and memory. Another text stays whole.
std::string type_of_product(std::string product) {
  for (char& c : product)
    c = std::isalnum(static_cast<unsigned char>(c))
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : '-';
  constexpr std::string_view kOther[] = {
      "nvidia", "tesla", "geforce", "quadro", "amd",  "instinct", "radeon", "pcie",  "sxm2",
      "sxm3",   "sxm4",  "sxm5",    "sxm",    "hbm3", "hbm2e",    "nvl",    "shared"};
  std::string type;
  for (std::size_t begin = 0; begin <= product.size();) {
    const std::size_t end = std::min(product.find('-', begin), product.size());
    const std::string_view word = std::string_view(product).substr(begin, end - begin);
    begin = end + 1;
    if (word.empty() || is_capacity(word) ||
        std::find(std::begin(kOther), std::end(kOther), word) != std::end(kOther))
      continue;
    type += (type.empty() ? "" : "-") + std::string(word);
  }
  return type.empty() ? "gpu" : type;
}

// Of one such device. NVIDIA's labels are in MiB, those of MIG devices named for their resource; AMD's
// are like 192G, and mean GiB.
Bytes gpu_memory(const NodeObject& node, const std::string& resource) {
  const bool is_amd = resource == kAmd;
  const std::string label = is_amd                ? label_of(node, "amd.com/gpu.vram")
                            : resource == kNvidia ? label_of(node, "nvidia.com/gpu.memory")
                                                  : label_of(node, resource + ".memory");
  std::int64_t amount = 0;
  const char* const end = label.data() + label.size();
  const auto [rest, error] = std::from_chars(label.data(), end, amount);
  if (error != std::errc() || amount <= 0 || amount > kMostGpuMebibytes) return {};
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (is_amd && unit == "G") return Bytes::gib(amount);
  return unit == (is_amd ? "M" : "") ? Bytes::mib(amount) : Bytes();
}

std::string problem_of(const Json& node) {
  if (const Json* cordoned = find(node, {"spec", "unschedulable"});
      cordoned && cordoned->is_boolean() && cordoned->get<bool>())
    return "cordoned in Kubernetes";
  if (!text_at(node, {"metadata", "deletionTimestamp"}).empty())
    return "being deleted in Kubernetes";
  bool is_ready = false;
  if (const Json* conditions = find(node, {"status", "conditions"});
      conditions && conditions->is_array())
    for (const Json& condition : *conditions) {
      if (text_at(condition, {"type"}) != "Ready") continue;
      is_ready = text_at(condition, {"status"}) == "True";
      if (!is_ready)
        return "not ready in Kubernetes: " + text_at(condition, {"reason"}) + " " +
               text_at(condition, {"message"});
    }
  if (!is_ready) return "not ready in Kubernetes: its kubelet has not said so";
  if (const Json* taints = find(node, {"spec", "taints"}); taints && taints->is_array())
    for (const Json& taint : *taints)
      if (const std::string& effect = text_at(taint, {"effect"});
          effect == "NoSchedule" || effect == "NoExecute")
        return "tainted in Kubernetes: " + text_at(taint, {"key"}) + "=" +
               text_at(taint, {"value"}) + ":" + effect;
  return {};
}

}  // namespace

NodeObject read_node(const Json& node) {
  NodeObject read;
  read.uid = text_at(node, {"metadata", "uid"});
  const auto created = parse_rfc3339(text_at(node, {"metadata", "creationTimestamp"}));
  if (!created || read.uid.empty()) return {};
  read.name = text_at(node, {"metadata", "name"});
  const auto seconds = std::chrono::floor<Seconds>(*created).time_since_epoch().count();
  read.incarnation = static_cast<std::uint64_t>(std::max<std::int64_t>(1, seconds));
  read.boot_id = text_at(node, {"status", "nodeInfo", "bootID"});
  read.allocatable = amounts_of(find(node, {"status", "allocatable"}));
  if (const Json* labels = find(node, {"metadata", "labels"}); labels && labels->is_object())
    for (const auto& [name, value] : labels->items())
      if (value.is_string()) read.labels.emplace(name, value.get<std::string>());
  read.problem = problem_of(node);
  return read;
}

std::vector<GpuResource> gpu_resources(const NodeObject& node) {
  std::vector<GpuResource> resources;
  for (const auto& [name, count] : node.allocatable.devices) {
    if (name == kNvidia)
      resources.push_back({name, type_of_product(label_of(node, "nvidia.com/gpu.product"))});
    else if (name == kAmd)
      resources.push_back({name, type_of_product(label_of(node, "amd.com/gpu.product-name"))});
    else if (name.starts_with(kMig))
      resources.push_back({name, name.substr(kMig.size())});
  }
  return resources;
}

GpuTopology gpu_domain_of(const NodeObject& node, const std::string& label, std::size_t gpus) {
  const std::string value = label.empty() ? std::string() : label_of(node, label);
  const std::vector<GpuResource> kinds = gpu_resources(node);
  if (value.empty() || value == "false" || gpus == 0 || gpus > kMostInDomain || kinds.size() != 1 ||
      kinds.front().name.starts_with(kMig))
    return {};
  unsigned links = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), links);
  if (error != std::errc() || end != value.data() + value.size() || links == 0) links = 1;
  const std::string link = "NV" + std::to_string(std::min(links, kMaxNvlinks));
  std::string text;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) text += "\tGPU" + std::to_string(gpu);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (std::size_t a = 0; a < gpus; ++a) {
    text += "GPU" + std::to_string(a);
    for (std::size_t b = 0; b < gpus; ++b) text += "\t" + (a == b ? "X" : link);
    text += "\tN/A\tN/A\n";
  }
  return GpuTopology(text);
}

Inventory inventory_of(const NodeObject& node, const Amounts& taken,
                       const std::vector<std::string>& features, bool& is_full) {
  Amounts left = node.allocatable;
  take(left, taken);
  Inventory inventory;
  // Kubelets that say nothing of pods take any number.
  const bool limits_pods = node.allocatable.pods > 0;
  is_full = left.cpu <= 0 || left.memory.value() <= 0 || (limits_pods && left.pods <= 0);
  inventory.cpu_thousandths =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(left.cpu, 1, kMostThousandths));
  inventory.cpus = std::max(inventory.cpu_thousandths / kWholeCpu, 1u);
  inventory.memory = std::max(left.memory, Bytes::mib(1));
  if (limits_pods)
    inventory.max_attempts =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(left.pods, 1, 1 << 20));
  // Likewise of their ephemeral storage. Jobs that ask for none run where nothing is left.
  if (node.allocatable.tmp_disk > Bytes()) inventory.tmp_disk = std::max(left.tmp_disk, Bytes());
  for (const GpuResource& resource : gpu_resources(node)) {
    const std::int64_t count = std::clamp<std::int64_t>(left.devices[resource.name], 0, 1024);
    const Bytes memory = gpu_memory(node, resource.name);
    for (std::int64_t i = 0; i < count; ++i)
      inventory.gpus.push_back(
          {GpuIndex(static_cast<std::uint16_t>(inventory.gpus.size())), resource.type, {}, memory});
  }
  inventory.features.emplace_back(kContainerFeature);
  for (const std::string& label : features)
    if (const std::string value = label_of(node, label); !value.empty())
      inventory.features.push_back(label + "=" + value);
  return inventory;
}

}  // namespace ares::kubernetes
