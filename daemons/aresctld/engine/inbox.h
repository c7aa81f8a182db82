// Inbox: commands that wait for the engine, fair between users: whoever sends one command waits for one of everybody else's,
// not for the thousand that another user's loop sent before it. What is not a user's (nodes, plans, time) goes first.
// What waits is bounded, for each user and in all; a user who has nothing waiting is let in beyond the bound in all.
// Owned by EngineLoop, which guards it; not thread-safe by itself.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "model/engine/command.h"

namespace ares::aresctld {

// Called on the engine thread once the reply's commit is durable and the snapshot that holds it is
// published.
using OnReply = std::function<void(core::Reply)>;

struct PostedCommand {
  Command command;
  OnReply on_reply;
  std::size_t bytes = 0;  // of a user's request
  // Whether its caller has gone; none: nobody can. Any thread, must not block.
  std::function<bool()> abandoned{};
};

// What waits: commands, the jobs that they make or name, and the bytes of their requests.
struct InboxLoad {
  std::size_t commands = 0;
  std::size_t jobs = 0;
  std::size_t bytes = 0;

  InboxLoad& operator+=(const InboxLoad& other);
  InboxLoad& operator-=(const InboxLoad& other);
  friend bool operator==(const InboxLoad&, const InboxLoad&) = default;
};

InboxLoad load_of(const PostedCommand& posted);

struct InboxBounds {
  InboxLoad one_user;
  InboxLoad in_all;
};

class Inbox {
 public:
  explicit Inbox(InboxBounds bounds) : bounds_(bounds) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t system_command_count() const { return system_commands_.size(); }
  const InboxLoad& load() const { return load_; }  // of users' commands

  // Why no command of this user and size is let in now; none: it is.
  std::optional<std::string> refusal(UserId user, const InboxLoad& more) const;

  // What refusal() says of it; the command was taken only if that is nothing.
  std::optional<std::string> push(PostedCommand&& posted);

  // The next one to serve: users in turn, each one's commands in their order. Precondition: not empty.
  PostedCommand pop();

  // Takes out what nobody waits for any more: its caller was told nothing, and asks again if it still wants it.
  std::vector<PostedCommand> take_abandoned();

 private:
  struct Queue {
    std::deque<PostedCommand> commands;
    InboxLoad load;
  };

  const InboxBounds bounds_;
  std::size_t size_ = 0;
  InboxLoad load_;
  std::deque<PostedCommand> system_commands_;
  std::map<UserId, Queue> users_;  // no empty queues
  UserId last_served_user_{0};     // last; the next user above it is served next
};

}  // namespace ares::aresctld
