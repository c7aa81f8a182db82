// What happens to a running job that is preempted. A value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ares {

// Stored as its number: append only.
enum class PreemptMode : std::uint8_t {
  off,      // it is not preempted
  requeue,  // it is ended and requeued; a job that may not be requeued is cancelled
  cancel,   // it is ended
  suspend,  // it is suspended and its CPUs are released; it keeps its memory and GPUs
};
inline constexpr std::array<std::string_view, 4> kPreemptModeNames{"off", "requeue", "cancel",
                                                                   "suspend"};
inline constexpr PreemptMode kLastPreemptMode = PreemptMode::suspend;
constexpr std::string_view to_string(PreemptMode mode) {
  return kPreemptModeNames[static_cast<std::size_t>(mode)];
}

}  // namespace ares
