// Messages waiting to be written to a stream: in order, bounded in number and bytes.
// A plain value; its owner locks it.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace ares::rpc {

class SendQueue {
 public:
  SendQueue(std::size_t max_messages, std::size_t max_bytes)
      : max_messages_(max_messages), max_bytes_(max_bytes) {}

  // False if it is full and the message was dropped. One message of any size always fits.
  bool push(std::string payload) {
    if (!waiting_.empty() &&
        (waiting_.size() >= max_messages_ || bytes_ + payload.size() > max_bytes_))
      return false;
    bytes_ += payload.size();
    waiting_.push_back(std::move(payload));
    return true;
  }
  // Precondition: the queue is not empty.
  std::string pop() {
    std::string payload = std::move(waiting_.front());
    waiting_.pop_front();
    bytes_ -= payload.size();
    return payload;
  }
  std::size_t front_size() const { return waiting_.front().size(); }  // of what pop() returns
  bool empty() const { return waiting_.empty(); }
  void clear() {
    waiting_.clear();
    bytes_ = 0;
  }

 private:
  std::size_t max_messages_, max_bytes_;
  std::size_t bytes_ = 0;
  std::deque<std::string> waiting_;
};

}  // namespace ares::rpc
