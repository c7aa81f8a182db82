#include "os/priority.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

namespace ares::os {
namespace {

constexpr int kHighNice = -10;

// By trying: inside a user namespace the capability is there without effect.
bool may_lock_more_than(rlim_t limit) {
  const std::size_t size =
      static_cast<std::size_t>(limit) + static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const region =
      ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return false;
  const bool locked = ::mlock2(region, size, MLOCK_ONFAULT) == 0;
  ::munmap(region, size);
  return locked;
}

}  // namespace

bool lock_memory() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
  if (limit.rlim_cur != RLIM_INFINITY && !may_lock_more_than(limit.rlim_cur)) return false;
  return ::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
}

bool raise_priority(Priority priority) {
  const int current = ::sched_getscheduler(0);
  sched_param chosen{};
  if (current < 0 || ::sched_getparam(0, &chosen) != 0) return false;
  const int policy = current & ~SCHED_RESET_ON_FORK;
  if (::sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &chosen) != 0) return false;
  if (policy != SCHED_OTHER || ::getpriority(PRIO_PROCESS, 0) > 0) return false;
  sched_param realtime{};
  realtime.sched_priority = ::sched_get_priority_min(SCHED_RR);
  if (priority == Priority::realtime &&
      ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &realtime) == 0)
    return true;
  return ::setpriority(PRIO_PROCESS, 0, kHighNice) == 0;
}

}  // namespace ares::os
