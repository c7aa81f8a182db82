// A scheduler plugin that fails in the way given by its option `how` when it is asked about a job whose comment has
// the word `misbehave`: crash, hang, throw, abort or overflow (of the stack). With `refuse` it refuses every node.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "plugin/sched_abi.h"

namespace {

struct Self {
  std::string how;
};

void* open(const ares_sched_host* host, char*, size_t) {
  auto* self = new Self;
  for (size_t i = 0; i < host->option_count; ++i)
    if (std::strcmp(host->options[i].key, "how") == 0) self->how = host->options[i].value;
  return self;
}

void close(void* self) {
  delete static_cast<Self*>(self);
}

int deeper(volatile int* above) {
  if (*above < 0) return 0;
  volatile int here[1024];
  here[0] = *above + 1;
  return deeper(here) + here[0];
}

void misbehave(const std::string& how) {
  volatile uintptr_t nowhere = 64;
  if (how == "crash") *reinterpret_cast<volatile int*>(nowhere) = 1;
  if (how == "abort") std::abort();
  if (how == "throw") throw std::runtime_error("let out");
  if (how == "overflow") {
    volatile int zero = 0;
    zero = deeper(&zero);
  }
  volatile bool forever = how == "hang";
  while (forever) {
  }
}

void filter(void* self, const ares_sched_job* job, const ares_sched_node* const*, size_t count,
            uint64_t* allowed, char*, size_t) {
  const std::string& how = static_cast<Self*>(self)->how;
  if (std::strstr(job->comment, "misbehave")) misbehave(how);
  for (size_t i = 0; i < count && how == "refuse"; ++i) allowed[i / 64] = 0;
}

const ares_sched_plugin kPlugin = {ARES_SCHED_ABI_VERSION,
                                   sizeof(ares_sched_plugin),
                                   ARES_SCHED_LOOK_COMMENT,
                                   open,
                                   close,
                                   filter,
                                   nullptr,
                                   nullptr};

}  // namespace

extern "C" const ares_sched_plugin* ARES_SCHED_ENTRY(void) {
  return &kPlugin;
}
