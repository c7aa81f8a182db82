// NodeTenants: whose jobs are on a node, for jobs that share nodes with their own user's jobs only (--exclusive=user).
// A part of the index's nodes; plain value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace ares::core::sched {

// Who asks: nobody in particular may go to no node that somebody keeps.
struct AccessRequest {
  std::optional<UserId> user;
  bool exclusive_user = false;              // with nobody but that user
  std::vector<std::string> reservations{};  // that it asked for
  bool flexible = false;                    // one of them is flexible
};

class NodeTenants {
 public:
  // A job that is there; `keeps`: it lets nobody but its own user's jobs in. An unknown user is like no other.
  void add(std::optional<UserId> user, bool exclusive) {
    if (exclusive) exclusive_user_ = user;
    join(user);
  }
  // A job that this pass has sent there. Whomever it keeps the node for, jobs that need not be alone come with the next pass:
  // in this one their users may not be told apart.
  void add_started(UserId user, bool exclusive) {
    started_exclusive_ = started_exclusive_ || exclusive;
    join(user);
  }
  bool admits(const AccessRequest& access) const {
    if (exclusive_user_ && exclusive_user_ != access.user) return false;
    if (!access.exclusive_user) return !started_exclusive_;
    return !several_users_ && (!user_ || user_ == access.user);
  }
  // Whether anybody is kept out who need not be alone.
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

// Whether that one job stands in the caller's way.
inline bool conflicts(const AccessRequest& access, std::optional<UserId> user, bool exclusive) {
  return (exclusive || access.exclusive_user) && (!user || user != access.user);
}

}  // namespace ares::core::sched
