#include "core/topology/cpus.h"

#include <algorithm>

namespace ares::core::topology {
namespace {

void add(IntervalSet& set, const IntervalSet& more) {
  for (const IntervalSet::Interval& interval : more.intervals())
    set.insert(interval.first, interval.last);
}

IntervalSet near_one(const MachineTopology& machine, unsigned gpu) {
  IntervalSet cpus = machine.gpu(gpu).cpus;
  if (!cpus.empty()) return cpus;
  for (const GpuSet numa : machine.numa_domains())
    if (numa.contains(gpu))
      for (const unsigned other : numa) add(cpus, machine.gpu(other).cpus);
  return cpus;
}

// Collects CPUs until there are enough.
class CpuPicker {
 public:
  CpuPicker(const Bitset& free, std::size_t count)
      : free_(free), missing_(std::min(count, free.count())) {}

  bool done() const { return missing_ == 0; }
  bool take(std::size_t cpu) {
    if (done() || cpu >= free_.size() || !free_.test(cpu)) return false;
    free_.reset(cpu);
    taken_.push_back(static_cast<std::uint32_t>(cpu));
    --missing_;
    return true;
  }
  std::vector<std::uint32_t> taken() && {
    std::sort(taken_.begin(), taken_.end());
    return std::move(taken_);
  }

 private:
  Bitset free_;
  std::size_t missing_;
  std::vector<std::uint32_t> taken_;
};

// Iterates over the CPUs near one GPU that have not been tried yet.
struct Reach {
  IntervalSet::Iterator next;
  IntervalSet::Iterator end;

  bool take_one(CpuPicker& picker) {
    while (next != end)
      if (picker.take(*next++)) return true;
    return false;
  }
};

void take_near(const MachineTopology& machine, GpuSet gpus, CpuPicker& picker) {
  std::vector<IntervalSet> near;
  for (const unsigned gpu : gpus) near.push_back(near_one(machine, gpu));
  std::vector<Reach> reaches;
  for (const IntervalSet& cpus : near) reaches.push_back({cpus.begin(), cpus.end()});
  for (bool any = true; any && !picker.done();) {
    any = false;
    for (Reach& reach : reaches) any = reach.take_one(picker) || any;
  }
}

}  // namespace

IntervalSet near_cpus(const MachineTopology& machine, GpuSet gpus) {
  IntervalSet cpus;
  for (const unsigned gpu : gpus) add(cpus, near_one(machine, gpu));
  return cpus;
}

std::vector<std::uint32_t> choose_cpus(const MachineTopology& machine, GpuSet gpus,
                                       const Bitset& free, std::size_t count) {
  CpuPicker picker(free, count);
  take_near(machine, gpus, picker);
  if (!picker.done()) {
    const IntervalSet wanted = near_cpus(machine, machine.gpus());
    for (std::uint32_t cpu = 0; cpu < free.size() && !picker.done(); ++cpu)
      if (!wanted.contains(cpu)) picker.take(cpu);
  }
  for (std::size_t cpu = 0; cpu < free.size() && !picker.done(); ++cpu) picker.take(cpu);
  return std::move(picker).taken();
}

}  // namespace ares::core::topology
