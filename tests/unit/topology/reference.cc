#include "unit/topology/reference.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace ares::core::topology {
namespace {

// Whether all GPUs of the set are connected by NVLinks through members alone: grown from one until nothing is added.
bool one_whole(const MachineTopology& machine, GpuSet set) {
  GpuSet found = set.lowest(1);
  for (GpuSet before; !(before == found);) {
    before = found;
    for (const unsigned a : before)
      for (const unsigned b : set)
        if (a != b && machine.link(a, b).nvlinks > 0) found.insert(b);
  }
  return found == set;
}

}  // namespace

Reference::Reference(const MachineTopology& machine)
    : machine_(machine), facts_(std::size_t{1} << std::bit_width(machine.gpus().bits())) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  facts_[0] = {kFar, 0, 0, kMaxNvlinks + 1};
  for (std::uint64_t bits = 1; bits < facts_.size(); ++bits) {
    if (!machine.gpus().contains(GpuSet(bits))) continue;
    const unsigned first = GpuSet(bits).lowest();
    const GpuSet rest = GpuSet(bits) - GpuSet::of(first);
    Facts facts = facts_[rest.bits()];
    for (const unsigned other : rest) {
      const Link link = machine.link(first, other);
      facts.slowest = std::min(facts.slowest, bandwidth(link).gb_per_s);
      facts.total += bandwidth(link).gb_per_s;
      facts.numa_pairs += machine.same_numa(first, other) ? 1 : 0;
      facts.fewest_nvlinks = std::min<unsigned>(facts.fewest_nvlinks, link.nvlinks);
    }
    facts_[bits] = facts;
  }
}

// The objective of choose_gpus(), directly.
bool Reference::better(GpuSet a, GpuSet b, GpuSet free) const {
  const auto worth = [&](GpuSet set) {
    const Facts& own = facts_[set.bits()];
    const Facts& left = facts_[(free - set).bits()];
    return std::tuple(own.slowest, own.total, own.numa_pairs, left.total, left.numa_pairs);
  };
  if (worth(a) != worth(b)) return worth(a) > worth(b);
  return !(a == b) && a.contains(GpuSet(a.bits() ^ b.bits()).lowest());
}

bool Reference::allowed(GpuSet set, const Constraint& constraint) const {
  if (facts_[set.bits()].fewest_nvlinks < constraint.min_nvlinks) return false;
  if (set.count() == 1 || constraint.shape == Shape::any) return true;
  if (constraint.shape == Shape::nvlink) return one_whole(machine_, set);
  if (constraint.shape == Shape::nvswitch) {
    std::set<unsigned> nvlinks;
    for (const unsigned a : set)
      for (const unsigned b : set)
        if (a != b) nvlinks.insert(machine_.link(a, b).nvlinks);
    return nvlinks.size() == 1 && *nvlinks.begin() > 0;
  }
  for (const unsigned a : set)
    for (const unsigned b : set) {
      if (a == b) continue;
      if (constraint.shape == Shape::pcie_switch && machine_.path(a, b) != Path::pix) return false;
      if (constraint.shape == Shape::numa_node && !machine_.same_numa(a, b)) return false;
    }
  return true;
}

std::vector<std::optional<GpuSet>> Reference::best(GpuSet free,
                                                   const Constraint& constraint) const {
  std::vector<std::optional<GpuSet>> found(free.count() + 1);
  for (std::uint64_t bits = free.bits(); bits != 0; bits = (bits - 1) & free.bits()) {
    const GpuSet set(bits);
    std::optional<GpuSet>& best = found[set.count()];
    if ((!best || better(set, *best, free)) && allowed(set, constraint)) best = set;
  }
  return found;
}

}  // namespace ares::core::topology
