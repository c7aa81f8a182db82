#include "core/topology/choose.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/topology/search.h"

namespace ares::core::topology {
namespace {

GpuChoice chosen(const MachineTopology& machine, GpuSet gpus) {
  return {gpus, bottleneck_of(machine, gpus), total_of(machine, gpus)};
}

// If all links are equal and one NUMA node has enough GPUs, no search is needed. The node with the
// fewest free GPUs is best: taking k of its n GPUs removes k(2n-k-1)/2 pairs, which grows with n.
std::optional<GpuChoice> without_search(const MachineTopology& machine, GpuSet free,
                                        const GpuRequest& request) {
  const auto& domains = machine.nvlink_domains();
  const auto domain = std::find_if(domains.begin(), domains.end(), [&](const NvlinkDomain& one) {
    return one.even && one.gpus.contains(free);
  });
  if (domain == domains.end()) return std::nullopt;
  const bool constrained = request.constraint.shape == Shape::pcie_switch ||
                           request.constraint.min_nvlinks > *domain->even;
  if (constrained && request.count > 1) return std::nullopt;
  GpuSet from;
  for (const GpuSet part : domain->by_numa) {
    const GpuSet here = part & free;
    if (here.count() < request.count) continue;
    if (from.empty() || here.count() < from.count() ||
        (here.count() == from.count() && here.lowest() < from.lowest()))
      from = here;
  }
  if (from.empty()) return std::nullopt;
  GpuChoice choice{from.lowest(request.count), std::nullopt, {}};
  if (request.count == 1) return choice;
  const Bandwidth each = bandwidth({static_cast<std::uint8_t>(*domain->even), Path::sys});
  choice.bottleneck = each;
  choice.total = {each.gb_per_s * request.count * (request.count - 1) / 2};
  return choice;
}

// For one GPU only what stays free matters: takes the one with the slowest links to the others.
GpuSet least_connected(const MachineTopology& machine, GpuSet free) {
  GpuSet best;
  std::int64_t least = 0;
  for (const unsigned gpu : free) {
    std::int64_t degree = 0;
    for (const unsigned other : free) degree += machine.weight(gpu, other);
    if (!best.empty() && degree >= least) continue;
    best = GpuSet::of(gpu);
    least = degree;
  }
  return best;
}

// Fallback if the search gave up without a result: some set connected by NVLinks, not the best one.
// Grown from each GPU in turn by adding connected GPUs.
std::optional<GpuSet> grown(const MachineTopology& machine, GpuSet free, unsigned count) {
  for (const unsigned first : free) {
    GpuSet set = GpuSet::of(first);
    for (bool more = true; more && set.count() < count;) {
      more = false;
      for (const unsigned gpu : free - set) {
        if (set.count() == count || !nvlinked(machine, set | GpuSet::of(gpu))) continue;
        set.insert(gpu);
        more = true;
      }
    }
    if (set.count() == count) return set;
  }
  return std::nullopt;
}

// The best set of two or more, from the fastest level down, or none. min_nvlinks is a bound on
// levels, because bandwidth grows with the number of NVLinks and any NVLink is faster than PCIe.
tl::expected<GpuChoice, Refusal> search(const MachineTopology& machine, GpuSet free,
                                        const GpuRequest& request) {
  Search search(machine, free, request.count, request.constraint.shape);
  Bandwidth least;
  if (request.constraint.min_nvlinks > 0)
    least = bandwidth({static_cast<std::uint8_t>(request.constraint.min_nvlinks), Path::sys});
  for (const MachineTopology::Level& level : machine.levels()) {
    if (level.bandwidth < least) break;
    const std::optional<GpuSet> gpus = search.best(level);
    if (!gpus) continue;
    GpuChoice choice = chosen(machine, *gpus);
    choice.proven = !search.gave_up();
    choice.steps = search.steps();
    return choice;
  }
  if (search.gave_up() && request.constraint == Constraint{Shape::nvlink, 0})
    if (const std::optional<GpuSet> gpus = grown(machine, free, request.count)) {
      GpuChoice choice = chosen(machine, *gpus);
      choice.proven = false;
      choice.steps = search.steps();
      return choice;
    }
  return tl::unexpected(Refusal::not_among_free);
}

// The largest number of GPUs that the constraint allows. If k GPUs fulfil it, so do some k - 1.
unsigned most(const MachineTopology& machine, GpuSet free, const Constraint& constraint) {
  unsigned good = 1;
  unsigned bad = free.count() + 1;
  while (bad - good > 1) {
    const unsigned middle = (good + bad) / 2;
    (choose_gpus(machine, free, {middle, constraint}) ? good : bad) = middle;
  }
  return good;
}

std::string counted(unsigned count) {
  return std::to_string(count) + (count == 1 ? " GPU" : " GPUs");
}

}  // namespace

tl::expected<GpuChoice, Refusal> choose_gpus(const MachineTopology& machine, GpuSet free,
                                             const GpuRequest& request) {
  free = free & machine.gpus();
  if (request.count == 0) return tl::unexpected(Refusal::none_asked);
  if (request.count > machine.gpus().count()) return tl::unexpected(Refusal::never);
  if (request.constraint.min_nvlinks > kMaxNvlinks && request.count > 1)
    return tl::unexpected(Refusal::never);
  if (request.count > free.count()) return tl::unexpected(Refusal::too_few_free);
  if (const auto choice = without_search(machine, free, request)) return *choice;
  if (request.count == 1) return chosen(machine, least_connected(machine, free));
  if (request.count == free.count() && request.constraint.none()) return chosen(machine, free);
  const auto found = search(machine, free, request);
  if (found || free == machine.gpus()) return found ? found : tl::unexpected(Refusal::never);
  return found;
}

Error explain(Refusal refusal, const MachineTopology& machine, GpuSet free,
              const GpuRequest& request) {
  free = free & machine.gpus();
  const std::string asked = counted(request.count);
  if (refusal == Refusal::none_asked) return {ErrorCode::invalid_argument, "ask for 1 GPU or more"};
  if (refusal == Refusal::too_few_free)
    return {ErrorCode::resource_exhausted, asked + " asked for, " + std::to_string(free.count()) +
                                               " of " + std::to_string(machine.gpus().count()) +
                                               " free; wait until others end"};
  if (!choose_gpus(machine, machine.gpus(), request)) refusal = Refusal::never;
  const GpuSet among = refusal == Refusal::never ? machine.gpus() : free;
  if (request.count > among.count())
    return {ErrorCode::invalid_argument, asked + " asked for, but the machine has " +
                                             std::to_string(among.count()) + "; ask for fewer"};
  const std::string limit = to_text(request.constraint) + " allows at most " +
                            std::to_string(most(machine, among, request.constraint)) + " of ";
  if (refusal == Refusal::never)
    return {ErrorCode::invalid_argument, asked + " asked for, but " + limit +
                                             "this machine's GPUs together; ask for fewer, or "
                                             "for a weaker constraint"};
  return {ErrorCode::resource_exhausted,
          asked + " asked for, but " + limit + "the free GPUs " + format_gpu_set(free) +
              " together; wait until others end, or ask for a weaker constraint"};
}

bool fulfils(const MachineTopology& machine, GpuSet gpus, const Constraint& constraint) {
  std::set<unsigned> nvlinks;  // of the pairs
  for (const unsigned a : gpus)
    for (const unsigned b : gpus) {
      if (a == b) continue;
      if (!machine.compatible_gpus(constraint.shape, a).contains(b)) return false;
      if (machine.link(a, b).nvlinks < constraint.min_nvlinks) return false;
      nvlinks.insert(machine.link(a, b).nvlinks);
    }
  if (constraint.shape == Shape::nvswitch && nvlinks.size() > 1) return false;
  return constraint.shape != Shape::nvlink || nvlinked(machine, gpus);
}

std::optional<Bandwidth> bottleneck_of(const MachineTopology& machine, GpuSet gpus) {
  std::optional<Bandwidth> least;
  for (const unsigned a : gpus)
    for (const unsigned b : gpus)
      if (a < b && (!least || bandwidth(machine.link(a, b)) < *least))
        least = bandwidth(machine.link(a, b));
  return least;
}

Bandwidth total_of(const MachineTopology& machine, GpuSet gpus) {
  Bandwidth sum;
  for (const unsigned a : gpus)
    for (const unsigned b : gpus)
      if (a < b) sum = sum + bandwidth(machine.link(a, b));
  return sum;
}

}  // namespace ares::core::topology
