// Protocol of the local socket: frames of head and body; many calls at once, answers in any order.
//
//   head   "ARE1", then call, code and size of the body as 32-bit big-endian numbers
//   body   code 0: a Sealed message. Server only: 1 + an ErrorCode: the text of the refusal;
//          65536: a Sealed message, and the answer follows.
//          Client only: 1, without a body: it no longer waits for that call.
//
// Calls on a connection have different numbers, not 0. A refusal of call 0 refuses all calls.
// Pure functions; any thread. Private to rpc/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::rpc {

struct FrameHead {
  std::uint32_t call = 0;
  std::uint32_t code = 0;
  std::uint32_t size = 0;  // of the body, bytes
};

inline constexpr std::size_t kHeadBytes = 16;
inline constexpr std::uint32_t kSealedFrame = 0;
inline constexpr std::uint32_t kCancelFrame = 1;
inline constexpr std::uint32_t kPartFrame = 65536;

// Precondition: the body is smaller than 4 GiB.
std::string frame(std::uint32_t call, std::uint32_t code, std::string_view body);
std::string refusal_frame(std::uint32_t call, const Error& error);

// None: `bytes` (at least kHeadBytes) do not begin with a valid head.
std::optional<FrameHead> read_head(std::string_view bytes);

// Error code of the server's refusal.
ErrorCode refusal_code(std::uint32_t code);

}  // namespace ares::rpc
