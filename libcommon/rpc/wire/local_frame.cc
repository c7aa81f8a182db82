#include "rpc/wire/local_frame.h"

namespace ares::rpc {
namespace {

constexpr std::string_view kMagic = "ARE1";

void put(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<unsigned char>(number >> shift));
}

std::uint32_t take(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

}  // namespace

std::string frame(std::uint32_t call, std::uint32_t code, std::string_view body) {
  std::string out;
  out.reserve(kHeadBytes + body.size());
  out += kMagic;
  put(out, call);
  put(out, code);
  put(out, static_cast<std::uint32_t>(body.size()));
  out += body;
  return out;
}

std::string refusal_frame(std::uint32_t call, const Error& error) {
  return frame(call, 1 + static_cast<std::uint32_t>(error.code), error.message);
}

std::optional<FrameHead> read_head(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  return FrameHead{take(bytes, 4), take(bytes, 8), take(bytes, 12)};
}

ErrorCode refusal_code(std::uint32_t code) {
  const bool known = code > 0 && code - 1 <= static_cast<std::uint32_t>(ErrorCode::internal);
  return known ? static_cast<ErrorCode>(code - 1) : ErrorCode::internal;
}

}  // namespace ares::rpc
