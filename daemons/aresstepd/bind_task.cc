#include "aresstepd/bind_task.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <vector>

#include "base/interval_set.h"
#include "os/affinity.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

int set_policy(int mode, const IntervalSet& nodes) {
  constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  std::vector<unsigned long> mask(nodes.back() / kBits + 1);
  for (const std::uint32_t node : nodes) mask[node / kBits] |= 1UL << (node % kBits);
  // The kernel leaves out the last of the bits that it is told.
  const long result = ::syscall(SYS_set_mempolicy, mode, mask.data(), mask.size() * kBits + 1);
  return result == 0 ? 0 : errno;
}

// Of the modes that mean the same the first that the kernel knows: MPOL_PREFERRED_MANY is there since
// Linux 5.15, balancing with it later. Returns 0 or an error number.
int set_memory_policy(const node::StepBinding& binding) {
  const IntervalSet& nodes = binding.memory_nodes;
  if (binding.policy == node::MemoryPolicy::none || nodes.empty()) return 0;
  if (binding.policy == node::MemoryPolicy::bind) {
    const int error = set_policy(MPOL_BIND | MPOL_F_NUMA_BALANCING, nodes);
    return error == EINVAL ? set_policy(MPOL_BIND, nodes) : error;
  }
  int error = set_policy(MPOL_PREFERRED_MANY | MPOL_F_NUMA_BALANCING, nodes);
  if (error == EINVAL) error = set_policy(MPOL_PREFERRED_MANY, nodes);
  if (error == EINVAL && nodes.count() == 1) error = set_policy(MPOL_PREFERRED, nodes);
  return error;
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
