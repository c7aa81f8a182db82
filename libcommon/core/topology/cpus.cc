#include "core/topology/cpus.h"

#include <algorithm>
#include <utility>

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
  CpuPicker(const Bitset& free, std::size_t count, const CpuLayout* layout)
      : free_(free), missing_(std::min(count, free.count())), layout_(layout) {}

  std::size_t missing() const { return missing_; }
  std::size_t size() const { return free_.size(); }
  std::size_t threads_per_core() const {
    return layout_ ? std::max<std::size_t>(layout_->threads_per_core(), 1) : 1;
  }

  // All threads of the CPU's core, if they are free and not more than are missing.
  bool take_core(std::uint32_t cpu) {
    const CpuLayout::Core* core = layout_ ? layout_->core_of(cpu) : nullptr;
    if (!core) return take(cpu);
    std::size_t threads = 0;
    for (const std::uint32_t thread : core->cpus) {
      if (thread >= free_.size()) continue;
      if (!free_.test(thread)) return false;
      ++threads;
    }
    if (threads == 0 || threads > missing_) return false;
    for (const std::uint32_t thread : core->cpus) take(thread);
    return true;
  }
  // The CPU, if other threads of its core are used.
  bool take_rest(std::uint32_t cpu) {
    const CpuLayout::Core* core = layout_ ? layout_->core_of(cpu) : nullptr;
    if (!core) return false;
    const auto used = [this](std::uint32_t thread) {
      return thread < free_.size() && !free_.test(thread);
    };
    return std::any_of(core->cpus.begin(), core->cpus.end(), used) && take(cpu);
  }
  bool take(std::uint32_t cpu) {
    if (missing_ == 0 || cpu >= free_.size() || !free_.test(cpu)) return false;
    free_.reset(cpu);
    taken_.push_back(cpu);
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
  const CpuLayout* layout_;
  std::vector<std::uint32_t> taken_;
};

using Take = bool (CpuPicker::*)(std::uint32_t);

// Each set in turn gives its lowest CPU that `take` accepts.
void take_in_turn(const std::vector<IntervalSet>& sets, CpuPicker& picker, Take take) {
  struct Cursor {
    IntervalSet::Iterator next, end;
  };
  std::vector<Cursor> cursors;
  for (const IntervalSet& set : sets) cursors.push_back({set.begin(), set.end()});
  for (bool any = true; any;) {
    any = false;
    for (Cursor& at : cursors)
      while (at.next != at.end && picker.missing() > 0)
        if ((picker.*take)(*at.next++)) {
          any = true;
          break;
        }
  }
}

void take_from(const std::vector<IntervalSet>& sets, CpuPicker& picker) {
  take_in_turn(sets, picker, &CpuPicker::take_core);
  take_in_turn(sets, picker, &CpuPicker::take_rest);
  take_in_turn(sets, picker, &CpuPicker::take);
}

// First one of each distinct set, then the second ones, and so on. Returns how many are distinct.
std::size_t alternate(std::vector<IntervalSet>& sets) {
  std::vector<std::pair<std::size_t, std::size_t>>
      order;  // how many equal ones precede it; position
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto before = static_cast<std::size_t>(
        std::count(sets.begin(), sets.begin() + static_cast<std::ptrdiff_t>(i), sets[i]));
    distinct += before == 0 ? 1 : 0;
    order.emplace_back(before, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<IntervalSet> sorted;
  for (const auto& [before, i] : order) sorted.push_back(std::move(sets[i]));
  sets = std::move(sorted);
  return distinct;
}

void take_near(const MachineTopology& machine, GpuSet gpus, CpuPicker& picker) {
  std::vector<IntervalSet> near;
  for (const unsigned gpu : gpus) near.push_back(near_one(machine, gpu));
  const std::size_t threads = picker.threads_per_core();
  if (threads > 1 && alternate(near) * threads > picker.missing())
    take_in_turn(near, picker, &CpuPicker::take);
  else
    take_from(near, picker);
}

IntervalSet all_cpus(const CpuPicker& picker) {
  IntervalSet cpus;
  if (picker.size() > 0) cpus.insert(0, static_cast<std::uint32_t>(picker.size() - 1));
  return cpus;
}

}  // namespace

IntervalSet near_cpus(const MachineTopology& machine, GpuSet gpus) {
  IntervalSet cpus;
  for (const unsigned gpu : gpus) add(cpus, near_one(machine, gpu));
  return cpus;
}

std::vector<std::uint32_t> choose_cpus(const MachineTopology& machine, GpuSet gpus,
                                       const Bitset& free, std::size_t count,
                                       const CpuLayout* layout) {
  CpuPicker picker(free, count, layout);
  take_near(machine, gpus, picker);
  if (picker.missing() > 0) {
    IntervalSet unwanted = all_cpus(picker);
    const IntervalSet wanted = near_cpus(machine, machine.gpus());
    for (const IntervalSet::Interval& interval : wanted.intervals())
      unwanted.erase(interval.first, interval.last);
    take_from({std::move(unwanted)}, picker);
  }
  if (picker.missing() > 0) take_from({all_cpus(picker)}, picker);
  return std::move(picker).taken();
}

std::vector<std::uint32_t> lowest_cpus(const Bitset& free, std::size_t count,
                                       const CpuLayout* layout) {
  CpuPicker picker(free, count, layout);
  take_from({all_cpus(picker)}, picker);
  return std::move(picker).taken();
}

}  // namespace ares::core::topology
