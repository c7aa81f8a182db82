// Inbox: commands that wait for the engine, fair between users: whoever sends one command waits for one of everybody else's,
// not for the thousand that another user's loop sent before it. What is not a user's (nodes, plans, time) goes first.
// Owned by EngineLoop, which guards it; not thread-safe by itself.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "core/engine/engine.h"
#include "model/command.h"

namespace ares::aresctld {

// Called on the engine thread once the reply's commit is durable and the snapshot that holds it is
// published.
using OnReply = std::function<void(core::Reply)>;

struct Posted {
  Command command;
  OnReply on_reply;
};

class Inbox {
 public:
  explicit Inbox(std::size_t most_of_one_user) : most_of_one_user_(most_of_one_user) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // False, and nothing taken, if so many of the user's commands wait already.
  bool push(Posted&& posted);

  // The next one to serve: users in turn, each one's commands in their order. Precondition: not empty.
  Posted pop();

 private:
  using Queue = std::deque<Posted>;

  const std::size_t most_of_one_user_;
  std::size_t size_ = 0;
  Queue first_;
  std::map<UserId, Queue> users_;  // no empty queues
  UserId served_{0};               // last; the next user above it is served next
};

}  // namespace ares::aresctld
