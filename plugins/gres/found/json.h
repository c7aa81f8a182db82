// The JSON form of what was found, described in ares-gpu-discovery(7): a program of a site or an
// administrator can write it, `aresd --discover` prints it, and it is how the process in which the
// driver's library runs answers aresd. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gres/found/found.h"

namespace ares::gres {

inline constexpr std::size_t kLongestFound = 1 << 20;   // bytes of JSON
inline constexpr std::size_t kMostFound = 1024;         // GPUs, instances of one GPU, NICs, notes
inline constexpr std::size_t kLongestFoundText = 1000;  // bytes of one text

// One GPU or row of links a line, with a line feed at the end. Texts and lists are cut to these
// lengths.
std::string to_json(const FoundMachine& machine);

// invalid_argument, with the place ("gpus[1].cpus: ..."), for anything else than that form, also
// for unknown keys, and for values that contradict each other.
Result<FoundMachine> from_json(std::string_view text);

// The JSON form, or what `nvidia-smi topo -m` prints; its GPUs have the type "gpu".
Result<FoundMachine> from_text(std::string_view text);

}  // namespace ares::gres
