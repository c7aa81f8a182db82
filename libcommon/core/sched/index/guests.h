// Guests: whose jobs are on a node, for jobs that share nodes with their own user's jobs only (--exclusive=user).
// A part of the index's nodes; plain value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace ares::core::sched {

// Who asks: nobody in particular may go to no node that somebody keeps.
struct Caller {
  std::optional<UserId> user;
  bool alone = false;                       // with nobody but that user
  std::vector<std::string> reservations{};  // that it asked for
  bool anywhere = false;                    // one of them is flexible
};

class Guests {
 public:
  // A job that is there; `keeps`: it lets nobody but its own user's jobs in. An unknown user is like no other.
  void add(std::optional<UserId> user, bool keeps) {
    if (keeps) keeper_ = user;
    join(user);
  }
  // A job that this pass has sent there. Whomever it keeps the node for, jobs that need not be alone come with the next pass:
  // in this one their users may not be told apart.
  void arrive(UserId user, bool keeps) {
    taken_ = taken_ || keeps;
    join(user);
  }
  bool admit(const Caller& caller) const {
    if (keeper_ && keeper_ != caller.user) return false;
    if (!caller.alone) return !taken_;
    return !mixed_ && (!first_ || first_ == caller.user);
  }
  // Whether anybody is kept out who need not be alone.
  bool bars() const { return keeper_ || taken_; }
  bool kept() const { return keeper_.has_value(); }
  friend bool operator==(const Guests&, const Guests&) = default;

 private:
  void join(std::optional<UserId> user) {
    mixed_ = mixed_ || !user || (first_ && *first_ != *user);
    first_ = user;
  }

  std::optional<UserId> first_, keeper_;
  bool mixed_ = false;
  bool taken_ = false;
};

// Whether that one job stands in the caller's way.
inline bool in_the_way(const Caller& caller, std::optional<UserId> user, bool keeps) {
  return (keeps || caller.alone) && (!user || user != caller.user);
}

}  // namespace ares::core::sched
