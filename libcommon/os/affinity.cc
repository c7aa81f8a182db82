#include "os/affinity.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <vector>

namespace ares::os {
namespace {

int set_policy(int mode, const IntervalSet& nodes) {
  constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  std::vector<unsigned long> mask(nodes.back() / kBits + 1);
  for (const std::uint32_t node : nodes) mask[node / kBits] |= 1UL << (node % kBits);
  // The kernel leaves out the last of the bits that it is told.
  const long result = ::syscall(SYS_set_mempolicy, mode, mask.data(), mask.size() * kBits + 1);
  return result == 0 ? 0 : errno;
}

}  // namespace

void run_on(const IntervalSet& cpus) {
  if (cpus.empty()) return;
  cpu_set_t* set = CPU_ALLOC(cpus.back() + 1);
  if (!set) return;
  const std::size_t size = CPU_ALLOC_SIZE(cpus.back() + 1);
  CPU_ZERO_S(size, set);
  for (const std::uint32_t cpu : cpus) CPU_SET_S(cpu, size, set);
  (void)::sched_setaffinity(0, size, set);
  CPU_FREE(set);
}

// Of the modes that mean the same the first that the kernel knows: MPOL_PREFERRED_MANY is there since
// Linux 5.15, balancing with it later.
int take_memory_from(const IntervalSet& nodes, bool only) {
  if (nodes.empty()) return 0;
  if (only) {
    const int error = set_policy(MPOL_BIND | MPOL_F_NUMA_BALANCING, nodes);
    return error == EINVAL ? set_policy(MPOL_BIND, nodes) : error;
  }
  int error = set_policy(MPOL_PREFERRED_MANY | MPOL_F_NUMA_BALANCING, nodes);
  if (error == EINVAL) error = set_policy(MPOL_PREFERRED_MANY, nodes);
  if (error == EINVAL && nodes.count() == 1) error = set_policy(MPOL_PREFERRED, nodes);
  return error;
}

}  // namespace ares::os
