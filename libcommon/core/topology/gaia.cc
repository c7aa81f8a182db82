#include "core/topology/gaia.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

namespace ares::core::topology {
namespace {

constexpr std::array<std::uint64_t, 5> kCosts = {1, 3, 2, 4, 4};  // in the order of Path

// Mixes all bits of x: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom ...", 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

// Order among equal candidates.
std::uint64_t rank(unsigned gpu, std::uint64_t seed) {
  return seed == 0 ? gpu : mixed(seed * kMaxGpus + gpu);
}

// The GPU with the smallest key(gpu), then the smallest rank. Precondition: `gpus` is not empty.
template <class Key>
unsigned least(GpuSet gpus, std::uint64_t seed, const Key& key) {
  std::optional<unsigned> best;
  for (const unsigned gpu : gpus)
    if (!best || std::tuple(key(gpu), rank(gpu, seed)) < std::tuple(key(*best), rank(*best, seed)))
      best = gpu;
  return *best;
}

template <class Holds>
GpuSet those(GpuSet gpus, const Holds& holds) {
  GpuSet chosen;
  for (const unsigned gpu : gpus)
    if (holds(gpu)) chosen.insert(gpu);
  return chosen;
}

}  // namespace

std::uint64_t Gaia::cost(Path path) {
  return kCosts[static_cast<std::size_t>(path)];
}

Gaia::Gaia(const MachineTopology& machine) : machine_(&machine), access_cost_(kMaxGpus, 0) {
  for (const unsigned a : machine.gpus())
    for (const unsigned b : machine.gpus())
      if (a != b) access_cost_[a] += cost(machine.tree().path(a, b));
}

std::uint64_t Gaia::left_below(const GpuShares& shares, std::size_t node) const {
  std::uint64_t sum = 0;
  for (const unsigned gpu : machine_->tree().nodes()[node].gpus) sum += shares.left[gpu];
  return sum;
}

// Whether all other GPUs below the same tree node are fully taken. False if there are no others.
bool Gaia::sibling_taken(const GpuShares& shares, unsigned gpu) const {
  const std::size_t above = machine_->tree().above(gpu);
  return machine_->tree().nodes()[above].gpus.count() > 1 &&
         left_below(shares, above) == shares.left[gpu];
}

Result<GaiaChoice> Gaia::choose(const GpuShares& shares, std::uint32_t thousandths,
                                std::uint64_t seed) const {
  if (thousandths == 0 || (thousandths > kWholeGpu && thousandths % kWholeGpu != 0))
    return fail(ErrorCode::invalid_argument,
                "ask for a part of one GPU, or for whole ones: only below 1 there are fractions");
  const auto access = [this](unsigned gpu) { return access_cost_[gpu]; };
  const auto one = [&](GpuSet among, GaiaRule rule) {
    const unsigned gpu = least(among, seed, access);
    return GaiaChoice{GpuSet::of(gpu), rule, access(gpu)};
  };
  const GpuSet whole =
      those(machine_->gpus(), [&](unsigned gpu) { return shares.left[gpu] == kWholeGpu; });
  if (thousandths < kWholeGpu) {
    const GpuSet fragments = those(machine_->gpus(), [&](unsigned gpu) {
      return shares.left[gpu] >= thousandths && shares.left[gpu] < kWholeGpu;
    });
    if (!fragments.empty()) {
      const unsigned gpu = least(fragments, seed, [&](unsigned candidate) {
        return std::tuple(shares.left[candidate], access(candidate));
      });
      return GaiaChoice{GpuSet::of(gpu), GaiaRule::fragment, access(gpu)};
    }
  }
  const unsigned count = std::max(thousandths / kWholeGpu, 1u);
  if (whole.count() < count)
    return fail(ErrorCode::resource_exhausted, std::to_string(count) + " whole GPUs needed, " +
                                                   std::to_string(whole.count()) +
                                                   " are; wait until others end");
  if (thousandths < kWholeGpu) return one(whole, GaiaRule::fragment);
  if (count > 1) return link(whole, count, seed);
  const GpuSet left_over = those(whole, [&](unsigned gpu) { return sibling_taken(shares, gpu); });
  return one(left_over.empty() ? whole : left_over, GaiaRule::singular);
}

// For each free GPU: climbs to the first node with enough free GPUs. The best node has the lowest
// cost between its children; ties are decided by the access costs of its cheapest free GPUs.
GaiaChoice Gaia::link(GpuSet whole, unsigned count, std::uint64_t seed) const {
  const std::vector<PcieNode>& nodes = machine_->tree().nodes();
  std::optional<GaiaChoice> best;
  std::uint64_t best_members = 0;
  std::uint64_t best_rank = 0;
  for (const unsigned gpu : whole) {
    std::size_t at = machine_->tree().above(gpu);
    while ((nodes[at].gpus & whole).count() < count) at = *nodes[at].parent;
    GpuSet rest = nodes[at].gpus & whole;
    GaiaChoice candidate{GpuSet(), GaiaRule::link, count * cost(nodes[at].level)};
    std::uint64_t members = 0;
    for (unsigned taken = 0; taken < count; ++taken) {
      const unsigned next =
          least(rest, seed, [this](unsigned member) { return access_cost_[member]; });
      candidate.gpus.insert(next);
      rest.erase(next);
      members += access_cost_[next];
    }
    const std::uint64_t order = rank(nodes[at].gpus.lowest(), seed);
    if (best && std::tuple(candidate.cost, members, order) >=
                    std::tuple(best->cost, best_members, best_rank))
      continue;
    best = candidate;
    best_members = members;
    best_rank = order;
  }
  return *best;
}

}  // namespace ares::core::topology
