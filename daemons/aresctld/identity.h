// Identity: converts names and ids of users and groups; cached, because a name service can be slow.
// Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "base/mutex.h"

namespace ares::aresctld {

class Identity {
 public:
  // "alice", or "1234" for a uid that no name service knows.
  std::string name_of(UserId uid);

  // `name` is a name or a number.
  std::optional<UserId> uid_of(const std::string& name);

  // The same for groups.
  std::string name_of(GroupId gid);
  std::optional<GroupId> gid_of(const std::string& name);

 private:
  struct Known {
    std::string name;
    std::chrono::steady_clock::time_point until;
  };
  Mutex mutex_;
  std::unordered_map<UserId, Known> names_ ARES_GUARDED_BY(mutex_);
  std::unordered_map<GroupId, Known> groups_ ARES_GUARDED_BY(mutex_);
};

}  // namespace ares::aresctld
