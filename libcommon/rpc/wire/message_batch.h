// Messages between node and controller that wait while another one is written travel as one: one seal,
// one write and one wake-up of the reader for all of them.
// Pure functions; any thread. Message is api::NodeUp or api::NodeDown.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "rpc/wire/send_queue.h"

namespace ares::rpc {

// Bounds of one batch. A larger message is written alone.
inline constexpr int kBatchMessages = 256;
inline constexpr std::size_t kBatchBytes = 128 * 1024;

// The payload of the first message of a session, by which the peer learns that it may send batches.
template <class Message>
std::string first_payload() {
  Message first;
  first.set_reads_batches(true);
  return first.SerializeAsString();
}

// Takes waiting messages from the queue and returns one payload that has them all.
// Precondition: the queue is not empty.
template <class Message>
std::string pop_batch(SendQueue& queue) {
  std::string first = queue.pop();
  std::size_t size = first.size();
  Message batch;
  const auto next_fits = [&] {
    return !queue.empty() && batch.batch_size() < kBatchMessages &&
           size + queue.front_size() <= kBatchBytes;
  };
  if (!next_fits()) return first;
  batch.add_batch(std::move(first));
  while (next_fits()) {
    size += queue.front_size();
    batch.add_batch(queue.pop());
  }
  return batch.SerializeAsString();
}

// Calls `handle` with each message of the payload, in order. False if a part of it cannot be read, which
// ends the session: `handle` has had those before that part.
template <class Message, class Handle>
bool for_each_message(const std::string& payload, Handle handle) {
  Message message;
  if (!message.ParseFromString(payload)) return false;
  if (message.batch().empty()) {
    handle(std::move(message));
    return true;
  }
  for (const std::string& part : message.batch()) {
    Message one;
    if (!one.ParseFromString(part) || !one.batch().empty()) return false;
    handle(std::move(one));
  }
  return true;
}

}  // namespace ares::rpc
