#include "aresstepd/bind_task.h"

#include <cstdio>
#include <vector>

#include "base/interval_set.h"
#include "os/affinity.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

int set_memory_policy(const node::StepBinding& binding) {
  if (binding.policy == node::MemoryPolicy::none) return 0;
  return os::take_memory_from(binding.memory_nodes, binding.policy == node::MemoryPolicy::bind);
}

IntervalSet set_of(const std::vector<std::uint32_t>& numbers) {
  IntervalSet set;
  for (const std::uint32_t number : numbers) set.insert(number);
  return set;
}

}  // namespace

std::string bind_task(const node::StepSpec& spec) {
  const node::StepBinding& binding = spec.binding;
  std::string lines;
  for (const std::string& note : binding.notes) lines += note + "\n";
  if (!binding.unbound)
    os::run_on(binding.script_cpus.empty() ? set_of(node::usable_cpus(spec.launch.share, binding))
                                           : binding.script_cpus);
  if (const int error = set_memory_policy(binding); error != 0) {
    const std::string what =
        os::errno_error(
            "cannot take memory from NUMA node " + format_interval_set(binding.memory_nodes), error)
            .message;
    if (binding.policy == node::MemoryPolicy::bind)
      lines += what + "; --mem-bind has no effect\n";
    else  // the user did not ask for it: for the attempt's log, which is still this file
      ::dprintf(2, "aresstepd: %s\n", what.c_str());
  }
  if (binding.verbose) lines += "bound: " + describe(spec.launch.share, binding) + "\n";
  return lines;
}

}  // namespace ares::stepd
