#include "os/affinity.h"

#include <sched.h>

#include <cstddef>

namespace ares::os {

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

}  // namespace ares::os
