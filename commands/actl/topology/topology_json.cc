// The topology as JSON.
#include "actl/topology/topology.h"
#include "base/interval_set.h"
#include "cli/output/json.h"
#include "cli/output/text.h"
#include "core/topology/cpus.h"

namespace ares::actl {
namespace {

using namespace core::topology;

std::string json_string(std::string_view text) {
  std::string out;
  cli::put_json_text(text, out);
  return out;
}

// Joins the results of f for all items with commas.
template <class All, class Text>
std::string list(const All& all, const Text& text) {
  std::string out;
  for (const auto& one : all) out += (out.empty() ? "" : ", ") + text(one);
  return "[" + out + "]";
}

std::string numbers(GpuSet gpus) {
  return list(gpus, [](unsigned gpu) { return std::to_string(gpu); });
}

std::string gpu_json(const MatrixGpu& gpu) {
  return "{\"gpu\": " + std::to_string(gpu.number) +
         ", \"cpus\": " + json_string(format_interval_set(gpu.cpus)) +
         ", \"numa\": " + json_string(format_interval_set(gpu.numa)) +
         ", \"own_numa\": " + json_string(format_interval_set(gpu.own_numa)) + "}";
}

std::string nic_json(const MatrixNic& nic) {
  return "{\"name\": " + json_string(nic.name) + ", \"device\": " + json_string(nic.device) + "}";
}

// One row per device, GPUs before NICs.
std::string links_json(const Matrix& matrix) {
  std::string out;
  for (std::size_t a = 0; a < matrix.devices(); ++a) {
    std::string row;
    for (std::size_t b = 0; b < matrix.devices(); ++b) {
      const auto& link = matrix.link(a, b);
      row += (row.empty() ? "" : ", ") + (link     ? json_string(format_link(*link))
                                          : a == b ? "\"X\""
                                                   : "null");
    }
    out += std::string(out.empty() ? "" : ",") + "\n    [" + row + "]";
  }
  return "[" + out + "\n  ]";
}

std::string domain_json(const NvlinkDomain& domain) {
  return "{\"gpus\": " + numbers(domain.gpus) +
         ", \"links\": " + (domain.even ? std::to_string(*domain.even) : "null") + "}";
}

std::string tree_json(const MachineTopology& machine, std::size_t at) {
  const PcieNode& node = machine.tree().nodes()[at];
  return "{\"level\": " + json_string(format_path(node.level)) +
         ", \"gpus\": " + numbers(node.leaves) + ", \"nics\": " +
         list(node.nics,
              [&](std::size_t i) { return json_string(machine.matrix().nics[i].name); }) +
         ", \"below\": " +
         list(node.children, [&](std::size_t child) { return tree_json(machine, child); }) + "}";
}

std::string allocation_json(const MachineTopology& machine, const Allocation& allocation) {
  std::string out = "{\"gpus\": " + numbers(allocation.gpus) +
                    ", \"thousandths\": " + std::to_string(allocation.thousandths) +
                    ", \"free\": " + numbers(allocation.free) +
                    ", \"policy\": " + (allocation.best ? "\"best\"" : "\"gaia\"");
  if (allocation.best) {
    const GpuChoice& choice = *allocation.best;
    out += ", \"slowest_gb_per_s\": " +
           (choice.bottleneck ? std::to_string(choice.bottleneck->gb_per_s) : "null") +
           ", \"total_gb_per_s\": " + std::to_string(choice.total.gb_per_s) +
           ", \"proven\": " + (choice.proven ? "true" : "false") +
           ", \"steps\": " + std::to_string(choice.steps);
  } else {
    out += ", \"access_cost\": " + std::to_string(allocation.gaia->cost);
  }
  return out + ", \"near_cpus\": " +
         json_string(format_interval_set(near_cpus(machine, allocation.gpus))) + ", \"cpus\": " +
         list(allocation.cpus, [](std::uint32_t cpu) { return std::to_string(cpu); }) + "}";
}

}  // namespace

std::string topology_json(const MachineTopology& machine,
                          const std::optional<Allocation>& allocation) {
  const Matrix& matrix = machine.matrix();
  return "{\n  \"gpus\": " + list(matrix.gpus, gpu_json) +
         ",\n  \"nics\": " + list(matrix.nics, nic_json) + ",\n  \"links\": " + links_json(matrix) +
         ",\n  \"nvlink_domains\": " + list(machine.nvlink_domains(), domain_json) +
         ",\n  \"numa_domains\": " + list(machine.numa_domains(), numbers) +
         ",\n  \"pcie\": " + tree_json(machine, machine.tree().root()) +
         ",\n  \"notes\": " + list(matrix.notes, json_string) +
         ",\n  \"allocation\": " + (allocation ? allocation_json(machine, *allocation) : "null") +
         "\n}\n";
}

}  // namespace ares::actl
