#include "node/binding.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/job/binding_options.h"

namespace ares::node {
namespace {

// The batch script is the first task of its node.
constexpr std::uint64_t kScriptTask = 0;

IntervalSet intersection(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet both;
  for (const std::uint32_t member : a)
    if (b.contains(member)) both.insert(member);
  return both;
}

void add(IntervalSet& set, const IntervalSet& more) {
  for (const IntervalSet::Interval& interval : more.intervals())
    set.insert(interval.first, interval.last);
}

// The lowest `threads` of each core among these CPUs; with `one_core` of each package one core only.
// CPUs that are in no core are kept.
IntervalSet thin_out(const IntervalSet& own, const CpuLayout& layout, std::uint32_t threads,
                     bool one_core) {
  IntervalSet kept;
  for (const std::uint32_t cpu : own)
    if (!layout.core_of(cpu)) kept.insert(cpu);
  std::set<std::uint32_t> packages;
  for (const CpuLayout::Core& core : layout.cores()) {
    std::uint32_t taken = 0;
    for (const std::uint32_t cpu : core.cpus) {
      if (!own.contains(cpu) || taken == threads) continue;
      if (taken == 0 && one_core && !packages.insert(core.package).second) break;
      kept.insert(cpu);
      ++taken;
    }
  }
  return kept;
}

class Binder {
 public:
  Binder(const LaunchSpec& launch, const CpuLayout& layout,
         const std::map<GpuIndex, IntervalSet>& gpu_numa_nodes)
      : launch_(launch), options_(launch.spec->binding), layout_(layout), gpus_(gpu_numa_nodes) {
    for (const std::uint32_t cpu : launch.share.cpu_ids) own_.insert(cpu);
  }

  StepBinding bind() && {
    choose_usable();
    bind_script();
    bind_memory();
    return std::move(binding_);
  }

 private:
  void note(std::string text) { binding_.notes.push_back(std::move(text)); }

  std::string unknown() const {
    return own_.empty() ? "the controller did not choose CPUs by their numbers"
                        : "the layout of this node's CPUs is not known";
  }

  void choose_usable() {
    const auto threads = used_threads_per_core(options_);
    if (!threads) return;
    if (own_.empty() || layout_.empty())
      return note("all hardware threads are used, because " + unknown());
    const bool one_core = parse_hint(options_.hint) == Hint::memory_bound;
    IntervalSet usable = thin_out(own_, layout_, *threads, one_core);
    if (usable == own_) return;
    binding_.usable_cpus = usable;
    own_ = std::move(usable);
  }

  void bind_script() {
    const Result<CpuBind> bind = parse_cpu_bind(options_.cpu_bind);
    if (!bind) return note("--cpu-bind has no effect: " + bind.error().message);
    binding_.verbose = bind->verbose;
    if (bind->kind == CpuBindKind::none) binding_.unbound = true;
    if (bind->list.items.empty()) return;  // a rule for tasks, which a batch script is not
    IntervalSet wanted = bind->list.of_task(kScriptTask);
    if (bind->kind == CpuBindKind::map_ldom || bind->kind == CpuBindKind::mask_ldom) {
      if (layout_.empty()) return note("--cpu-bind has no effect, because " + unknown());
      wanted = layout_.cpus_near(wanted);
    }
    if (own_.empty()) return note("--cpu-bind has no effect, because " + unknown());
    IntervalSet both = intersection(wanted, own_);
    if (both.empty())
      return note(
          "--cpu-bind has no effect, because the job has none of the CPUs that it names; "
          "it has " +
          format_interval_set(own_));
    if (both != own_) binding_.script_cpus = std::move(both);
  }

  IntervalSet preferred_nodes() const {
    IntervalSet nodes = layout_.numa_nodes_of(own_);
    for (const GpuIndex gpu : launch_.share.gpus)
      if (const auto near = gpus_.find(gpu); near != gpus_.end())
        add(nodes, intersection(near->second, layout_.numa_nodes()));
    return nodes;
  }

  void bind_memory() {
    const Result<MemBind> bind = parse_mem_bind(options_.mem_bind);
    if (!bind) return note("--mem-bind has no effect: " + bind.error().message);
    binding_.verbose = binding_.verbose || bind->verbose;
    if (bind->kind == MemBindKind::none) return;
    const bool asked = bind->kind == MemBindKind::local || !bind->list.items.empty();
    if (own_.empty() || layout_.empty()) {
      if (asked) note("--mem-bind has no effect, because " + unknown());
      return;
    }
    const IntervalSet all = layout_.numa_nodes();
    IntervalSet nodes;
    if (!asked) {
      nodes = preferred_nodes();
    } else if (bind->kind == MemBindKind::local) {
      nodes = layout_.numa_nodes_of(binding_.script_cpus.empty() ? own_ : binding_.script_cpus);
    } else {
      nodes = intersection(bind->list.of_task(kScriptTask), all);
      if (nodes.empty())
        return note(
            "--mem-bind has no effect, because this node has none of the NUMA nodes that it "
            "names; it has " +
            format_interval_set(all));
    }
    if (nodes.empty() || nodes == all) return;  // the kernel's default does the same
    binding_.policy = asked && !bind->prefer ? MemoryPolicy::bind : MemoryPolicy::prefer;
    binding_.memory_nodes = std::move(nodes);
  }

  const LaunchSpec& launch_;
  const JobBinding& options_;
  const CpuLayout& layout_;
  const std::map<GpuIndex, IntervalSet>& gpus_;
  IntervalSet own_;
  StepBinding binding_;
};

}  // namespace

StepBinding bind_step(const LaunchSpec& launch, const CpuLayout& layout,
                      const std::map<GpuIndex, IntervalSet>& gpu_numa_nodes) {
  return Binder(launch, layout, gpu_numa_nodes).bind();
}

std::vector<std::uint32_t> usable_cpus(const NodeShare& share, const StepBinding& binding) {
  if (binding.usable_cpus.empty()) return share.cpu_ids;
  return {binding.usable_cpus.begin(), binding.usable_cpus.end()};
}

IntervalSet allowed_memory(const StepBinding& binding, const JobBinding& options) {
  if (binding.policy != MemoryPolicy::bind) return {};
  IntervalSet nodes = binding.memory_nodes;
  if (const Result<MemBind> bind = parse_mem_bind(options.mem_bind); bind)
    for (const BindList::Item& item : bind->list.items) add(nodes, item.members);
  return nodes;
}

std::string describe(const NodeShare& share, const StepBinding& binding) {
  IntervalSet cpus = binding.script_cpus;
  if (cpus.empty())
    for (const std::uint32_t cpu : usable_cpus(share, binding)) cpus.insert(cpu);
  std::string text = binding.unbound ? "not bound to CPUs"
                     : cpus.empty()  ? "any CPUs"
                                     : "CPUs " + format_interval_set(cpus);
  if (binding.policy == MemoryPolicy::none) return text;
  text += ", memory from NUMA node " + format_interval_set(binding.memory_nodes);
  return text + (binding.policy == MemoryPolicy::bind ? " only" : " first");
}

}  // namespace ares::node
