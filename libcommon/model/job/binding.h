// How the tasks of a job are bound to CPUs, memory and GPUs, as asub's options ask for it.
// Plain data, part of the job's specification; any thread. binding_options.h reads the texts.
#pragma once

#include <cstdint>
#include <string>

namespace ares {

// Texts are lower-case and were checked; empty = the option was not given.
struct JobBinding {
  std::string hint;                    // "nomultithread"
  std::uint32_t threads_per_core = 0;  // hardware threads of a core that are used; 0 = all
  std::string cpu_bind;                // "verbose,mask_cpu:0x3,0xc"
  std::string mem_bind;                // "local"
  std::string gpu_bind;                // "closest"
  std::string distribution;            // "block:cyclic"

  friend bool operator==(const JobBinding&, const JobBinding&) = default;
};

}  // namespace ares
