#include "aresctld/script_messages.h"

#include <utility>
#include <vector>

namespace ares::aresctld {

std::uint64_t ScriptMessages::add(std::string node, Done done, Clock::time_point now) {
  const Lock lock(mutex_);
  waiting_.emplace(++last_id_, Waiting{std::move(node), std::move(done), now + kLongestAnswer});
  return last_id_;
}

void ScriptMessages::answered(const std::string& node, std::uint64_t id, const Status& told) {
  Done done;
  {
    const Lock lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || found->second.node != node) return;
    done = std::move(found->second.done);
    waiting_.erase(found);
  }
  done(told);
}

template <class Matches>
void ScriptMessages::end_those(Matches matches, const std::string& why) {
  std::vector<Done> ended;
  {
    const Lock lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (!matches(it->second)) {
        ++it;
        continue;
      }
      ended.push_back(std::move(it->second.done));
      it = waiting_.erase(it);
    }
  }
  for (const Done& done : ended) done(fail(ErrorCode::unavailable, why));
}

void ScriptMessages::lost(const std::string& node) {
  end_those([&](const Waiting& one) { return one.node == node; },
            "its node has lost the connection to the controller; look whether the message was "
            "written");
}

void ScriptMessages::expire(Clock::time_point now) {
  end_those([&](const Waiting& one) { return one.until <= now; },
            "its node does not answer; it may be of a release that knows no messages");
}

void ScriptMessages::end_all() {
  end_those([](const Waiting&) { return true; }, "the controller stops");
}

}  // namespace ares::aresctld
