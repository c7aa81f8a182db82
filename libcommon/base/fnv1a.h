// FNV-1a, 64 bits: small, and the same on every machine. Not collision-resistant against inputs
// made to collide. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace ares {

// `value` is the hash of the preceding text.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t value = 0xcbf29ce484222325ULL) {
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return value;
}

}  // namespace ares
