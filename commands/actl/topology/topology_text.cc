// The topology as text.
#include <algorithm>
#include <map>

#include "actl/topology/topology.h"
#include "base/interval_set.h"
#include "cli/output/text.h"
#include "core/topology/cpus.h"

namespace ares::actl {
namespace {

using namespace core::topology;

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string gpu_names(GpuSet gpus) {
  return (gpus.count() == 1 ? "GPU " : "GPUs ") + format_gpu_set(gpus);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string gb(Bandwidth bandwidth) {
  return std::to_string(bandwidth.gb_per_s) + " GB/s";
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string device_name(const Matrix& matrix, std::size_t device) {
  if (device < matrix.gpus.size()) return "GPU" + std::to_string(matrix.gpus[device].number);
  return matrix.nics[device - matrix.gpus.size()].name;
}

// One line per GPU: its links to all devices, then its affinities.
std::string links_text(const Matrix& matrix) {
  std::size_t width = 4;
  for (std::size_t i = 0; i < matrix.devices(); ++i)
    width = std::max(width, device_name(matrix, i).size());
  std::string text = padded("", width + 2);
  for (std::size_t i = 0; i < matrix.devices(); ++i)
    text += padded(device_name(matrix, i), width + 2);
  text += "CPUs\n";
  for (std::size_t a = 0; a < matrix.gpus.size(); ++a) {
    text += padded(device_name(matrix, a), width + 2);
    for (std::size_t b = 0; b < matrix.devices(); ++b) {
      const auto& link = matrix.link(a, b);
      text += padded(link ? format_link(*link) : a == b ? "X" : "?", width + 2);
    }
    text += or_unknown(format_interval_set(matrix.gpus[a].cpus)) + "\n";
  }
  return text;
}

// "4 x NV1, 2 x NV2", fastest first.
std::string kinds_of(const MachineTopology& machine, GpuSet gpus) {
  std::map<std::int64_t, std::pair<std::string, std::size_t>, std::greater<>> kinds;
  for (const unsigned a : gpus)
    for (const unsigned b : gpus) {
      if (b >= a) continue;
      auto& kind = kinds[bandwidth(machine.link(a, b)).gb_per_s];
      kind.first = format_link(machine.link(a, b));
      ++kind.second;
    }
  std::vector<std::string> texts;
  for (const auto& [speed, kind] : kinds)
    texts.push_back(std::to_string(kind.second) + " x " + kind.first);
  return cli::join(texts, ", ");
}

std::string nvlinks_text(const MachineTopology& machine) {
  if (machine.nvlink_domains().empty()) return "NVLink  none\n";
  std::string text;
  for (const NvlinkDomain& domain : machine.nvlink_domains()) {
    text += (text.empty() ? "NVLink  " : "        ") + gpu_names(domain.gpus) + ": ";
    text += domain.even ? "every two joined by " + counted(*domain.even, "link") +
                              "; which are taken does not matter for the links\n"
                        : "joined unevenly, " + kinds_of(machine, domain.gpus) + "\n";
  }
  return text;
}

std::string numa_text(const MachineTopology& machine) {
  std::string text;
  for (const GpuSet gpus : machine.numa_domains()) {
    const std::string nodes = format_interval_set(machine.gpu(gpus.lowest()).numa);
    text += (text.empty() ? "NUMA    " : "        ") + gpu_names(gpus) + ": node " +
            or_unknown(nodes) + ", CPUs " +
            or_unknown(format_interval_set(near_cpus(machine, gpus))) + "\n";
  }
  return text;
}

// One line per tree node: its level and its devices and children.
void put_tree(const MachineTopology& machine, std::size_t at, const std::string& indent,
              std::string& text) {
  const PcieNode& node = machine.tree().nodes()[at];
  text += indent + std::string(format_path(node.level));
  for (const unsigned gpu : node.leaves) text += " GPU" + std::to_string(gpu);
  for (const std::size_t nic : node.nics) {
    const MatrixNic& known = machine.matrix().nics[nic];
    text += " " + known.name + (known.device.empty() ? "" : "(" + known.device + ")");
  }
  text += "\n";
  for (const std::size_t child : node.children) put_tree(machine, child, indent + "  ", text);
}

std::string slowest_pair(const MachineTopology& machine, GpuSet gpus, Bandwidth speed) {
  for (const unsigned a : gpus)
    for (const unsigned b : gpus)
      if (a < b && bandwidth(machine.link(a, b)) == speed)
        return format_link(machine.link(a, b)) + ", " + gb(speed) + ", as between GPU" +
               std::to_string(a) + " and GPU" + std::to_string(b);
  return {};
}

// Explains the choice in terms of the placement objective.
std::string why_text(const MachineTopology& machine, const Allocation& allocation) {
  const GpuChoice& choice = *allocation.best;
  std::string text;
  if (choice.bottleneck) {
    text += "Slowest pair  " + slowest_pair(machine, choice.gpus, *choice.bottleneck) + "\n";
    text += "All pairs     " + gb(choice.total) + ": " + kinds_of(machine, choice.gpus) + "\n";
  }
  const GpuSet left = allocation.free - choice.gpus;
  text += "Left free     " + (left.empty() ? "none" : gpu_names(left));
  if (left.count() > 1) text += ", " + gb(total_of(machine, left)) + " among them";
  text += "\nWhy           ";
  if (left.empty())
    text += "all that are free";
  else if (!choice.bottleneck)
    text += "no other free GPU leaves more to the rest; of equals the lowest number";
  else
    text +=
        "no other set has a faster slowest pair, nor with the same a larger sum; of equals that "
        "which leaves most, then the lowest numbers";
  text += "\nSearch        " + counted(choice.steps, "step") +
          (choice.proven ? ", proven best" : ", given up: there may be a better set") + "\n";
  return text;
}

std::string gaia_text(const GaiaChoice& choice) {
  static constexpr const char* kRules[] = {"Fragment", "Singular", "Link"};
  return std::string("Rule          ") + kRules[static_cast<std::size_t>(choice.rule)] +
         " of the policy gaia, access cost " + std::to_string(choice.cost) + "\n";
}

}  // namespace

std::string topology_text(const MachineTopology& machine) {
  const Matrix& matrix = machine.matrix();
  std::string text = counted(matrix.gpus.size(), "GPU") + ", " +
                     counted(matrix.nics.size(), "NIC") + ", " +
                     counted(machine.numa_domains().size(), "NUMA domain") + "\n";
  for (const std::string& note : matrix.notes) text += "Note: " + note + "\n";
  text += "\n" + links_text(matrix) + "\n" + nvlinks_text(machine) + numa_text(machine) + "PCIe\n";
  put_tree(machine, machine.tree().root(), "        ", text);
  return text;
}

std::string allocation_text(const MachineTopology& machine, const Allocation& allocation) {
  std::string text = "Chosen        " + gpu_names(allocation.gpus);
  if (allocation.thousandths < kWholeGpu)
    text += ", " + std::to_string(allocation.thousandths) + " thousandths of it,";
  text += " of the free " + format_gpu_set(allocation.free) + "\n";
  text += allocation.best ? why_text(machine, allocation) : gaia_text(*allocation.gaia);
  text += "CPUs near     " + or_unknown(format_interval_set(near_cpus(machine, allocation.gpus))) +
          "\n";
  if (!allocation.cpus.empty()) {
    IntervalSet cpus;
    for (const std::uint32_t cpu : allocation.cpus) cpus.insert(cpu);
    text += "CPUs chosen   " + format_interval_set(cpus) + "\n";
  }
  return text;
}

}  // namespace ares::actl
