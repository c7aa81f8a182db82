#include "aresctld/inbox.h"

#include <utility>

namespace ares::aresctld {

bool Inbox::push(Posted&& posted) {
  if (const auto* user = std::get_if<UserCommand>(&posted.command.body)) {
    Queue& queue = users_[user->who.uid];
    if (queue.size() >= most_of_one_user_) return false;
    queue.push_back(std::move(posted));
  } else {
    first_.push_back(std::move(posted));
  }
  ++size_;
  return true;
}

Posted Inbox::pop() {
  --size_;
  if (!first_.empty()) {
    Posted next = std::move(first_.front());
    first_.pop_front();
    return next;
  }
  auto turn = users_.upper_bound(served_);
  if (turn == users_.end()) turn = users_.begin();
  served_ = turn->first;
  Posted next = std::move(turn->second.front());
  turn->second.pop_front();
  if (turn->second.empty()) users_.erase(turn);
  return next;
}

}  // namespace ares::aresctld
