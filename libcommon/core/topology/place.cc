#include "core/topology/place.h"

#include "core/topology/cpus.h"

namespace ares::core::topology {

tl::expected<Placement, Refusal> place(const MachineTopology& machine, GpuSet free_gpus,
                                       const GpuRequest& request, const Bitset& free_cpus,
                                       std::size_t cpus) {
  const auto choice = choose_gpus(machine, free_gpus, request);
  if (!choice) return tl::unexpected(choice.error());
  Placement placement;
  placement.choice = *choice;
  for (const unsigned gpu : choice->gpus)
    placement.gpus.emplace_back(static_cast<GpuIndex::rep>(gpu));
  if (cpus > 0) placement.cpus = choose_cpus(machine, choice->gpus, free_cpus, cpus);
  return placement;
}

Matrix matrix_of(const std::vector<Gpu>& gpus) {
  Matrix matrix;
  for (const Gpu& gpu : gpus) {
    if (gpu.index.value() >= kMaxGpus) continue;
    IntervalSet cores;
    for (const std::uint32_t core : gpu.cores) cores.insert(core);
    matrix.gpus.push_back({gpu.index.value(), std::move(cores), {}, {}});
  }
  for (const MatrixGpu& a : matrix.gpus)
    for (const MatrixGpu& b : matrix.gpus) {
      const Path path = share_numa(a, b).value_or(false) ? Path::node : Path::sys;
      matrix.links.push_back(&a == &b ? std::nullopt : std::optional(Link{0, path}));
    }
  return matrix;
}

}  // namespace ares::core::topology
