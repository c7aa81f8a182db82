// ScriptMessages: what nodes were asked to write to the standard error of batch scripts and have not answered yet. Kept in memory only: a
// restart of the controller forgets them. Owned by NodeHub; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace ares::aresctld {

class ScriptMessages {
 public:
  using Clock = std::chrono::steady_clock;
  // Called once, outside of all locks.
  using Done = std::function<void(const Status&)>;

  static constexpr std::chrono::seconds kLongestAnswer{10};

  std::uint64_t add(std::string node, Done done, Clock::time_point now = Clock::now());
  // Of an id of another node, or one that is over, nothing happens.
  void answered(const std::string& node, std::uint64_t id, const Status& told);
  // The node's session has ended.
  void lost(const std::string& node);
  // Those that have waited too long.
  void expire(Clock::time_point now = Clock::now());
  // The controller stops.
  void end_all();

 private:
  struct Waiting {
    std::string node;
    Done done;
    Clock::time_point until;
  };
  template <class Matches>
  void end_those(Matches matches, const std::string& why);

  Mutex mutex_;
  std::map<std::uint64_t, Waiting> waiting_ ARES_GUARDED_BY(mutex_);
  std::uint64_t last_id_ ARES_GUARDED_BY(mutex_) = 0;
};

}  // namespace ares::aresctld
