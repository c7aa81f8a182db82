// What becomes of a running job that has to make room for another. A value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ares {

// Stored as its number: append only.
enum class PreemptMode : std::uint8_t {
  off,      // nothing: it runs to its end
  requeue,  // it is ended and runs again later; one that may not run again is ended for good
  cancel,   // it is ended for good
  suspend,  // it stands still and lends its CPUs; its memory and its GPUs stay its own
};
inline constexpr std::array<std::string_view, 4> kPreemptModeNames{"off", "requeue", "cancel",
                                                                   "suspend"};
inline constexpr PreemptMode kLastPreemptMode = PreemptMode::suspend;
constexpr std::string_view to_string(PreemptMode mode) {
  return kPreemptModeNames[static_cast<std::size_t>(mode)];
}

}  // namespace ares
