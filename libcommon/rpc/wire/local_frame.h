// What travels through a local socket: frames of a head and a body, many calls on one connection, answers in any order.
//
//   head   "ARE1", then call, code and size of the body as 32-bit numbers, most significant byte first
//   body   code 0: a Sealed message. From the server also 1 + an ErrorCode: the text of the refusal.
//          From the client also 1, without a body: it does not wait for that call any more.
//
// A connection's calls have different numbers, 0 is none of them: a refusal of 0 is one of all.
// Functions of their arguments; any thread. Private to rpc/.
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

// Precondition: the body is smaller than 4 GiB.
std::string frame(std::uint32_t call, std::uint32_t code, std::string_view body);
std::string refusal_frame(std::uint32_t call, const Error& error);

// None: `bytes`, of which there are at least kHeadBytes, are something else.
std::optional<FrameHead> read_head(std::string_view bytes);

// What the server refused with.
ErrorCode refusal_code(std::uint32_t code);

}  // namespace ares::rpc
