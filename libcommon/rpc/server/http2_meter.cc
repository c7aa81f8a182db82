#include "rpc/server/http2_meter.h"

#include <algorithm>

namespace ares::rpc {
namespace {

constexpr std::uint8_t kData = 0, kHeaders = 1, kResetStream = 3;
constexpr std::uint8_t kEndStream = 0x1, kPadded = 0x8;
constexpr std::size_t kMaxStreams = 4096;  // that have sent something and not ended

}  // namespace

bool Http2Meter::take(std::string_view bytes) {
  received_bytes_ += bytes.size();
  const auto skip = [&bytes](std::size_t& left) {
    const std::size_t n = std::min(left, bytes.size());
    left -= n;
    bytes.remove_prefix(n);
  };
  skip(preface_left_);
  while (!bytes.empty()) {
    if (head_bytes_ < kHead) {
      head_[head_bytes_++] = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      if (head_bytes_ < kHead) continue;
      if (!begin_frame()) return false;
    }
    if (type_ == kData && !take_data(bytes.substr(0, frame_left_))) return false;
    skip(frame_left_);
    if (frame_left_ == 0) end_frame();
  }
  return true;
}

bool Http2Meter::begin_frame() {
  frame_left_ = std::size_t{head_[0]} << 16 | std::size_t{head_[1]} << 8 | head_[2];
  type_ = head_[3];
  flags_ = head_[4];
  stream_ = (std::uint32_t{head_[5]} << 24 | std::uint32_t{head_[6]} << 16 |
             std::uint32_t{head_[7]} << 8 | head_[8]) &
            0x7fff'ffffu;
  if (type_ == kHeaders && stream_ > last_stream_) {
    last_stream_ = stream_;
    ++opened_streams_;
  }
  return type_ != kData || ((flags_ & kPadded) == 0 && messages_.size() <= kMaxStreams);
}

void Http2Meter::end_frame() {
  head_bytes_ = 0;
  if (type_ == kResetStream || (type_ == kData && (flags_ & kEndStream) != 0)) forget(stream_);
}

bool Http2Meter::take_data(std::string_view bytes) {
  if (bytes.empty()) return true;
  Message& message = messages_[stream_];
  while (!bytes.empty()) {
    std::size_t n = 1;
    if (message.prefix_bytes < kPrefix) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      if (message.prefix_bytes == 0 && byte != 0) return false;  // compressed
      message.left = message.left << 8 | byte;
      ++message.prefix_bytes;
    } else {
      n = std::min<std::size_t>(message.left, bytes.size());
      message.left -= static_cast<std::uint32_t>(n);
    }
    bytes.remove_prefix(n);
    message.held += n;
    partial_bytes_ += n;
    if (message.prefix_bytes < kPrefix) continue;
    if (message.left > max_message_bytes_) return false;
    if (message.left == 0) complete(message);
  }
  return true;
}

void Http2Meter::complete(Message& message) {
  partial_bytes_ -= message.held;
  message = {};
}

void Http2Meter::forget(std::uint32_t stream) {
  const auto found = messages_.find(stream);
  if (found == messages_.end()) return;
  partial_bytes_ -= found->second.held;
  messages_.erase(found);
}

}  // namespace ares::rpc
