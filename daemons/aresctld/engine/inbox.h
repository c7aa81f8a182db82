// Inbox: queue of commands for the engine, round-robin over users. A user's command waits for at
// most one command of each other user, however many of them are queued. Commands that do not belong
// to a user (nodes, plans, time) come first. The queue is bounded per user and in total; a user
// without queued commands may exceed the total bound.
// Owned by EngineLoop, which locks it; not thread-safe by itself.
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
  // Whether the caller has disconnected; empty: it cannot. Any thread, must not block.
  std::function<bool()> abandoned{};
  // Its caller repeats it with the same request id when it is told `unavailable`.
  bool repeats = false;
};

// Load of the queue: commands, the jobs that they create or name, and the bytes of their requests.
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

  // Why a command of this user and size is refused now; none: it is accepted.
  std::optional<std::string> refusal(UserId user, const InboxLoad& more) const;

  // Returns the result of refusal(); the command is queued only if there is none, and stays with the caller otherwise.
  std::optional<std::string> push(PostedCommand& posted);

  // The next command: users in turn, the commands of a user in order. Precondition: not empty.
  PostedCommand pop();

  // Removes users' commands that `which` chooses. It must not block.
  std::vector<PostedCommand> take(const std::function<bool(const PostedCommand&)>& which);

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
  UserId last_served_user_{0};     // the next higher user follows
};

}  // namespace ares::aresctld
