// Packets between aresd and the fork server of aresstepd. Plain data; any thread. Each is text, `key
// value` lines, on a Unix socket; the request carries the supervisor's end of its channel, the answer a
// descriptor of the supervisor's process (pidfd).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::node {

// Both sides may be of different releases while a node is upgraded. A later version is refused, an
// earlier one is understood.
inline constexpr std::uint32_t kLaunchVersion = 1;

struct LaunchRequest {
  std::uint64_t number = 0;  // chosen by aresd, repeated in the answer
  std::string directory;     // of the attempt; absolute
};
struct LaunchAnswer {
  std::uint64_t number = 0;
  std::int64_t pid = 0;  // of the supervisor; 0 after an error
  std::string error;     // why no supervisor was given the attempt
};

std::string encode(const LaunchRequest& request);
std::string encode(const LaunchAnswer& answer);
Result<LaunchRequest> decode_launch_request(std::string_view packet);
Result<LaunchAnswer> decode_launch_answer(std::string_view packet);

}  // namespace ares::node
