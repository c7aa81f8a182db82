#include "steps/memory_binding.h"

#include <iterator>
#include <utility>

namespace ares::steps {
namespace {

TaskMemory without_effect(const std::string& why) {
  return {.note = "--mem-bind has no effect, because " + why};
}

IntervalSet one_of(const IntervalSet& nodes, std::uint32_t task) {
  IntervalSet one;
  one.insert(*std::next(nodes.begin(), static_cast<std::ptrdiff_t>(task % nodes.count())));
  return one;
}

IntervalSet those_there(const IntervalSet& wanted, const IntervalSet& nodes) {
  IntervalSet there;
  for (const std::uint32_t node : wanted)
    if (nodes.contains(node)) there.insert(node);
  return there;
}

}  // namespace

TaskMemory memory_of_task(const MemBind& bind, const CpuLayout& layout, const IntervalSet& cpus,
                          std::uint32_t task) {
  if (bind.kind == MemBindKind::unset || bind.kind == MemBindKind::none) return {};
  if (layout.empty()) return without_effect("the layout of this node's CPUs is not known");
  const IntervalSet all = layout.numa_nodes();
  IntervalSet nodes;
  if (bind.kind == MemBindKind::local) {
    nodes = layout.numa_nodes_of(cpus);
    if (nodes.empty()) return without_effect("the controller did not choose CPUs by their numbers");
  } else if (bind.kind == MemBindKind::rank) {
    nodes = one_of(all, task);
  } else {
    nodes = those_there(bind.list.of_task(task), all);
    if (nodes.empty())
      return without_effect("this node has none of the NUMA nodes that it names; it has " +
                            format_interval_set(all));
  }
  if (nodes == all) return {};
  return {.policy = bind.prefer ? node::MemoryPolicy::prefer : node::MemoryPolicy::bind,
          .nodes = std::move(nodes)};
}

std::string describe(const TaskMemory& memory) {
  if (memory.policy == node::MemoryPolicy::none) return "any NUMA node";
  return "NUMA node " + format_interval_set(memory.nodes) +
         (memory.policy == node::MemoryPolicy::bind ? " only" : " first");
}

}  // namespace ares::steps
