#include "aresctld/engine/inbox.h"

#include <algorithm>
#include <utility>

namespace ares::aresctld {
namespace {

// Number of jobs that a command creates or names. Jobs selected by filters are not known yet.
struct JobCount {
  std::size_t operator()(const SubmitMany& c) const { return c.specs.size(); }
  template <class C>
  std::size_t operator()(const C& c) const {
    if constexpr (requires { c.jobs.keys; })
      return std::max<std::size_t>(1, c.jobs.keys.size() + c.jobs.own_ids.size());
    return 1;
  }
};

bool exceeds(const InboxLoad& load, const InboxLoad& bound) {
  return load.commands > bound.commands || load.jobs > bound.jobs || load.bytes > bound.bytes;
}

}  // namespace

InboxLoad& InboxLoad::operator+=(const InboxLoad& other) {
  commands += other.commands;
  jobs += other.jobs;
  bytes += other.bytes;
  return *this;
}

InboxLoad& InboxLoad::operator-=(const InboxLoad& other) {
  commands -= other.commands;
  jobs -= other.jobs;
  bytes -= other.bytes;
  return *this;
}

InboxLoad load_of(const PostedCommand& posted) {
  const auto* user = std::get_if<UserCommand>(&posted.command.body);
  return {1, user ? std::visit(JobCount{}, user->body) : 1, posted.bytes};
}

std::optional<std::string> Inbox::refusal(UserId user, const InboxLoad& more) const {
  // A user's first command is accepted whatever its size and the others' load. A separate total
  // bound applies, far above what the users of a site need.
  constexpr std::size_t kReserve = 4;
  const auto found = users_.find(user);
  if (found != users_.end()) {
    InboxLoad own = found->second.load;
    if (exceeds(own += more, bounds_.one_user))
      return "too many of your requests wait already; retry";
  }
  InboxLoad bound = bounds_.in_all;
  if (found == users_.end())
    for (std::size_t i = 1; i < kReserve; ++i) bound += bounds_.in_all;
  InboxLoad all = load_;
  if (load_.commands > 0 && exceeds(all += more, bound))
    return "the controller has too many requests waiting; retry";
  return std::nullopt;
}

std::optional<std::string> Inbox::push(PostedCommand& posted) {
  if (const auto* user = std::get_if<UserCommand>(&posted.command.body)) {
    const UserId uid = user->who.uid;
    const InboxLoad load = load_of(posted);
    if (auto why = refusal(uid, load)) return why;
    Queue& queue = users_[uid];
    queue.commands.push_back(std::move(posted));
    queue.load += load;
    load_ += load;
  } else {
    system_commands_.push_back(std::move(posted));
  }
  ++size_;
  return std::nullopt;
}

PostedCommand Inbox::pop() {
  --size_;
  if (!system_commands_.empty()) {
    PostedCommand next = std::move(system_commands_.front());
    system_commands_.pop_front();
    return next;
  }
  auto next_user = users_.upper_bound(last_served_user_);
  if (next_user == users_.end()) next_user = users_.begin();
  last_served_user_ = next_user->first;
  Queue& queue = next_user->second;
  PostedCommand next = std::move(queue.commands.front());
  queue.commands.pop_front();
  const InboxLoad load = load_of(next);
  queue.load -= load;
  load_ -= load;
  if (queue.commands.empty()) users_.erase(next_user);
  return next;
}

std::vector<PostedCommand> Inbox::take(const std::function<bool(const PostedCommand&)>& which) {
  std::vector<PostedCommand> taken;
  for (auto user = users_.begin(); user != users_.end();) {
    Queue& queue = user->second;
    std::deque<PostedCommand> kept;
    for (PostedCommand& posted : queue.commands) {
      if (!which(posted)) {
        kept.push_back(std::move(posted));
        continue;
      }
      const InboxLoad load = load_of(posted);
      queue.load -= load;
      load_ -= load;
      --size_;
      taken.push_back(std::move(posted));
    }
    queue.commands.swap(kept);
    user = queue.commands.empty() ? users_.erase(user) : std::next(user);
  }
  return taken;
}

}  // namespace ares::aresctld
