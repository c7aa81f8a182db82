#include "steps/frame.h"

namespace ares::steps {
namespace {

constexpr std::size_t kHeader = 9;  // length of the payload, number, kind
constexpr std::size_t kCompactFrom = std::size_t{1} << 20;

void append_number(std::string& bytes, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i)
    number |=
        static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]))
        << (8 * i);
  return number;
}

}  // namespace

void append_header(std::string& bytes, FrameKind kind, std::uint32_t number, std::size_t size) {
  append_number(bytes, static_cast<std::uint32_t>(size));
  append_number(bytes, number);
  bytes += static_cast<char>(kind);
}

void append_frame(std::string& bytes, FrameKind kind, std::uint32_t number,
                  std::string_view payload) {
  append_header(bytes, kind, number, payload.size());
  bytes.append(payload);
}

Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view rest = std::string_view(bytes_).substr(begin_);
  if (rest.size() < kHeader) return std::nullopt;
  const std::size_t size = read_number(rest);
  if (size > kLongestPayload)
    return fail(ErrorCode::invalid_argument, "a frame of " + std::to_string(size) +
                                                 " bytes was announced; the longest has " +
                                                 std::to_string(kLongestPayload));
  if (rest.size() < kHeader + size) return std::nullopt;
  Frame frame{static_cast<FrameKind>(rest[8]), read_number(rest.substr(4)),
              std::string(rest.substr(kHeader, size))};
  begin_ += kHeader + size;
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
  } else if (begin_ >= kCompactFrom) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  return frame;
}

}  // namespace ares::steps
