#include "core/topology/parsed_topology.h"

#include <algorithm>

namespace ares::core::topology {
namespace {

std::string counted(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string nvlink_text(const MachineTopology& machine) {
  if (machine.nvlink_domains().empty()) return "no NVLink";
  std::string text = "NVLink";
  for (const NvlinkDomain& domain : machine.nvlink_domains())
    text += " " + format_gpu_set(domain.gpus) +
            (domain.even ? " (" + std::to_string(*domain.even) + " each)" : " (uneven)");
  return text;
}

std::string numa_text(const MachineTopology& machine) {
  std::string text = "NUMA";
  for (const GpuSet gpus : machine.numa_domains()) text += " " + format_gpu_set(gpus);
  return text;
}

// PCIe switches with several GPUs; empty if there are none.
std::string switch_text(const MachineTopology& machine) {
  std::string text;
  for (const unsigned gpu : machine.gpus()) {
    const GpuSet below = machine.compatible_gpus(Shape::pcie_switch, gpu);
    if (below.count() > 1 && below.lowest() == gpu) text += " " + format_gpu_set(below);
  }
  return text.empty() ? "" : "; PCIe switches" + text;
}

}  // namespace

Result<ParsedTopology> read_topology(std::string_view text, const std::string& type) {
  if (text.size() > kMaxGpuTopology)
    return fail(ErrorCode::invalid_argument,
                "line 1, column 1: " + std::to_string(text.size()) + " bytes, but at most " +
                    std::to_string(kMaxGpuTopology) +
                    " are read; give the output of nvidia-smi topo -m alone");
  const Result<Matrix> matrix = parse_matrix(text);
  if (!matrix) return fail(matrix.error());
  ParsedTopology parsed;
  for (const MatrixGpu& gpu : matrix->gpus)
    parsed.gpus.push_back({GpuIndex(static_cast<GpuIndex::rep>(gpu.number)),
                           type.empty() ? "gpu" : type,
                           {gpu.cpus.begin(), gpu.cpus.end()}});
  std::sort(parsed.gpus.begin(), parsed.gpus.end(),
            [](const Gpu& a, const Gpu& b) { return a.index < b.index; });
  parsed.topology = GpuTopology(format_matrix(*matrix));
  if (parsed.topology.text().size() > kMaxGpuTopology)  // empty cells became "N/A"
    return fail(ErrorCode::invalid_argument, "line 1, column 1: too many devices");
  return parsed;
}

Status check_gpu_topology(const GpuTopology& topology) {
  if (topology.empty()) return {};
  if (const auto read = read_topology(topology.text(), ""); !read) return fail(read.error());
  return {};
}

std::string summary(const MachineTopology& machine) {
  std::string text = counted(machine.gpus().count(), "GPU") + "; " + nvlink_text(machine) + "; " +
                     numa_text(machine) + switch_text(machine);
  if (const std::size_t nics = machine.matrix().nics.size(); nics > 0)
    text += "; " + counted(nics, "NIC");
  return text;
}

std::string summary(const GpuTopology& topology) {
  if (topology.empty()) return {};
  Result<Matrix> matrix = parse_matrix(topology.text());
  return matrix ? summary(MachineTopology(*std::move(matrix))) : "not understood";
}

}  // namespace ares::core::topology
