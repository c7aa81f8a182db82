#include "core/topology/machine.h"

#include <algorithm>
#include <functional>

namespace ares::core::topology {
namespace {

static_assert(kMaxGpus * (kMaxGpus - 1) / 2 < MachineTopology::kWeightScale);

using Joined = std::function<bool(unsigned, unsigned)>;

// Connected components of the relation `joined`, ordered by their lowest GPUs.
std::vector<GpuSet> components(GpuSet gpus, const Joined& joined) {
  std::vector<GpuSet> all;
  while (!gpus.empty()) {
    GpuSet found;
    GpuSet border = gpus.lowest(1);
    while (!border.empty()) {
      const unsigned gpu = border.lowest();
      border.erase(gpu);
      found.insert(gpu);
      for (const unsigned other : gpus - found)
        if (joined(gpu, other)) border.insert(other);
    }
    all.push_back(found);
    gpus = gpus - found;
  }
  return all;
}

}  // namespace

MachineTopology::MachineTopology(Matrix matrix)
    : matrix_(std::move(matrix)),
      tree_(matrix_),
      position_(kMaxGpus, 0),
      weights_(std::size_t{kMaxGpus} * kMaxGpus, 0),
      interchangeable_(kMaxGpus) {
  for (std::size_t i = 0; i < matrix_.gpus.size(); ++i) {
    gpus_.insert(matrix_.gpus[i].number);
    position_[matrix_.gpus[i].number] = i;
  }
  find_domains();
  weigh();
  find_levels();
  find_compatible();
  find_interchangeable();
}

Path MachineTopology::path(unsigned a, unsigned b) const {
  const Link printed = link(a, b);
  return printed.nvlinks > 0 ? tree_.path(a, b) : printed.path;
}

bool MachineTopology::same_numa(unsigned a, unsigned b) const {
  return share_numa(gpu(a), gpu(b)).value_or(path(a, b) <= Path::node);
}

std::vector<GpuSet> MachineTopology::numa_parts(GpuSet gpus) const {
  const auto near = [this](unsigned a, unsigned b) { return same_numa(a, b); };
  std::vector<GpuSet> parts = components(gpus, near);
  for (const GpuSet part : parts)
    for (const unsigned a : part)
      for (const unsigned b : part)
        if (a != b && !near(a, b)) return {};
  return parts;
}

void MachineTopology::find_domains() {
  const auto by_nvlink = [this](unsigned a, unsigned b) { return link(a, b).nvlinks > 0; };
  for (const GpuSet gpus : components(gpus_, by_nvlink)) {
    if (gpus.count() < 2) continue;
    const unsigned first = gpus.lowest();
    const unsigned count = link(first, (gpus - GpuSet::of(first)).lowest()).nvlinks;
    bool even = true;
    for (const unsigned a : gpus)
      for (const unsigned b : gpus) even = even && (a == b || link(a, b).nvlinks == count);
    domains_.push_back({gpus, even ? std::optional(count) : std::nullopt, numa_parts(gpus)});
  }
  numa_domains_ = components(gpus_, [this](unsigned a, unsigned b) { return same_numa(a, b); });
}

void MachineTopology::weigh() {
  for (const unsigned a : gpus_)
    for (const unsigned b : gpus_)
      if (a != b)
        weights_[a * kMaxGpus + b] =
            bandwidth(link(a, b)).gb_per_s * kWeightScale + (same_numa(a, b) ? 1 : 0);
}

void MachineTopology::find_levels() {
  for (const unsigned a : gpus_)
    for (const unsigned b : gpus_)
      if (b < a) levels_.push_back({bandwidth(link(a, b)), {}});
  std::sort(levels_.begin(), levels_.end(),
            [](const Level& a, const Level& b) { return a.bandwidth > b.bandwidth; });
  levels_.erase(
      std::unique(levels_.begin(), levels_.end(),
                  [](const Level& a, const Level& b) { return a.bandwidth == b.bandwidth; }),
      levels_.end());
  for (Level& level : levels_) {
    level.partners.resize(kMaxGpus);
    for (const unsigned a : gpus_)
      for (const unsigned b : gpus_)
        if (a != b && bandwidth(link(a, b)) >= level.bandwidth) level.partners[a].insert(b);
  }
}

void MachineTopology::find_compatible() {
  for (std::vector<GpuSet>& compatible_gpus : compatible_) compatible_gpus.resize(kMaxGpus);
  const auto of = [this](Shape shape) -> std::vector<GpuSet>& {
    return compatible_[static_cast<std::size_t>(shape)];
  };
  for (const unsigned a : gpus_) {
    of(Shape::any)[a] = gpus_;
    of(Shape::nvlink)[a] = of(Shape::nvswitch)[a] = GpuSet::of(a);
    for (const unsigned b : gpus_) {
      if (a != b && link(a, b).nvlinks > 0) of(Shape::nvswitch)[a].insert(b);
      if (a == b || path(a, b) == Path::pix) of(Shape::pcie_switch)[a].insert(b);
      if (a == b || same_numa(a, b)) of(Shape::numa_node)[a].insert(b);
    }
  }
  for (const NvlinkDomain& domain : domains_)
    for (const unsigned gpu : domain.gpus) of(Shape::nvlink)[gpu] = domain.gpus;
}

bool MachineTopology::are_interchangeable(unsigned a, unsigned b) const {
  for (const unsigned other : gpus_) {
    if (other == a || other == b) continue;
    if (weight(a, other) != weight(b, other)) return false;
    for (const std::vector<GpuSet>& compatible_gpus : compatible_)
      if (compatible_gpus[a].contains(other) != compatible_gpus[b].contains(other)) return false;
  }
  return true;
}

void MachineTopology::find_interchangeable() {
  for (const unsigned a : gpus_)
    for (const unsigned b : gpus_)
      if (a != b && are_interchangeable(a, b)) interchangeable_[a].insert(b);
}

}  // namespace ares::core::topology
