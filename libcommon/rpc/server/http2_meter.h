// Counts what a gRPC client has sent on one connection: bytes, streams, and how much of messages that are not whole yet, which
// gRPC must keep. Reads HTTP/2 frames (RFC 9113) and the prefix of gRPC's messages; headers are skipped.
// A plain value; its owner guards it. Private to rpc/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace ares::rpc {

class Http2Meter {
 public:
  explicit Http2Meter(std::size_t max_message_bytes) : max_message_bytes_(max_message_bytes) {}

  // What came next. False: a message larger than accepted, a compressed one (what it grows to is not known), a padded frame
  // or more open streams than any client of ours has; the connection is to be cut.
  bool take(std::string_view bytes);

  std::size_t received_bytes() const { return received_bytes_; }
  std::size_t partial_bytes() const { return partial_bytes_; }  // of messages begun and not whole
  std::size_t opened_streams() const { return opened_streams_; }

 private:
  static constexpr std::size_t kPreface = 24;
  static constexpr std::size_t kHead = 9;
  static constexpr std::size_t kPrefix = 5;  // of a message: whether it is compressed, and its size

  struct Message {
    std::size_t prefix_bytes = 0;  // had
    std::uint32_t left = 0;        // bytes, once the prefix is whole
    std::size_t held = 0;
  };

  bool begin_frame();
  void end_frame();
  bool take_data(std::string_view bytes);
  void complete(Message& message);
  void forget(std::uint32_t stream);

  const std::size_t max_message_bytes_;
  std::size_t received_bytes_ = 0;
  std::size_t partial_bytes_ = 0;
  std::size_t opened_streams_ = 0;

  std::size_t preface_left_ = kPreface;
  std::array<unsigned char, kHead> head_{};
  std::size_t head_bytes_ = 0;
  std::uint8_t type_ = 0, flags_ = 0;
  std::uint32_t stream_ = 0;
  std::uint32_t last_stream_ = 0;
  std::size_t frame_left_ = 0;
  std::unordered_map<std::uint32_t, Message> messages_;  // by stream
};

}  // namespace ares::rpc
