// NodeTenants: the users whose jobs are on a node, for jobs that share nodes only with jobs of the
// same user (--exclusive=user). Part of IndexedNode; plain value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace ares::core::sched {

// The job that requests a node. Without a user it may use no node that is exclusive to a user.
struct AccessRequest {
  std::optional<UserId> user;
  bool exclusive_user = false;              // shares nodes only with jobs of that user
  std::vector<std::string> reservations{};  // the reservations that it requests
  bool flexible = false;                    // one of these is flexible
};

class NodeTenants {
 public:
  // Adds a running job. `exclusive`: it shares the node only with jobs of its user. An unknown user
  // differs from every user.
  void add(std::optional<UserId> user, bool exclusive) {
    if (exclusive) exclusive_user_ = user;
    join(user);
  }
  // Adds a job that this pass starts. If it is exclusive, the node admits jobs that are not
  // exclusive only from the next pass on, because this pass may not distinguish their users.
  void add_started(UserId user, bool exclusive) {
    started_exclusive_ = started_exclusive_ || exclusive;
    join(user);
  }
  bool admits(const AccessRequest& access) const {
    if (exclusive_user_ && exclusive_user_ != access.user) return false;
    if (!access.exclusive_user) return !started_exclusive_;
    return !several_users_ && (!user_ || user_ == access.user);
  }
  // Whether some jobs that are not exclusive themselves are refused.
  bool excludes_others() const { return exclusive_user_ || started_exclusive_; }
  bool has_exclusive_user() const { return exclusive_user_.has_value(); }
  friend bool operator==(const NodeTenants&, const NodeTenants&) = default;

 private:
  void join(std::optional<UserId> user) {
    several_users_ = several_users_ || !user || (user_ && *user_ != *user);
    user_ = user;
  }

  std::optional<UserId> user_, exclusive_user_;
  bool several_users_ = false;
  bool started_exclusive_ = false;
};

// Whether one tenant alone prevents the requesting job from using the node.
inline bool conflicts(const AccessRequest& access, std::optional<UserId> user, bool exclusive) {
  return (exclusive || access.exclusive_user) && (!user || user != access.user);
}

}  // namespace ares::core::sched
