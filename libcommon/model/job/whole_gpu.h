// What a GPU is counted in: thousandths. A constant; any thread.
#pragma once

#include <cstdint>

namespace ares {

inline constexpr std::uint32_t kWholeGpu = 1000;

}  // namespace ares
