// GPUs are counted in thousandths; this is one whole GPU. A constant; any thread.
#pragma once

#include <cstdint>

namespace ares {

inline constexpr std::uint32_t kWholeGpu = 1000;

}  // namespace ares
