// Decides whether and when a request is sent again. Pure; any thread.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "exec/kubernetes/api/reply.h"

namespace ares::kubernetes {

// Delays before the second try, the third and so on: doubled each time, with jitter, so that many clients that failed together do
// not come back together.
struct BackOff {
  Duration first = std::chrono::milliseconds(200);
  Duration most = std::chrono::seconds(30);
};

// After that many failures, at least 1: between half of the delay and all of it.
Duration delay_after(unsigned failures, const BackOff& back_off, Random& random);

// What the server asked for, at most the longest delay of our own: a server that asks for an hour is asked again meanwhile.
Duration asked_delay(const Reply& reply, const BackOff& back_off);

struct RetryRules {
  unsigned most_tries = 5;
  BackOff back_off{};
};

// What has been done for a request so far.
struct Trial {
  unsigned tries = 1;         // with the one that was answered just now
  bool has_reloaded = false;  // the credentials, because of a 401
  bool has_read_authority = false;
};

struct Verdict {
  enum class Next {
    done,
    fail,    // `failure` tells the caller what to do
    again,   // send the same request after `delay`
    reload,  // read the credentials again, then send the same request
  };
  Next next = Next::done;
  Failure failure = Failure::none;
  Duration delay{};
};

// Every request may be sent again after an answer that was lost: creations are safe by their names, which a second creation finds
// taken, and changes by their preconditions.
Verdict judge(const Reply& reply, const Trial& trial, const RetryRules& rules, Random& random);

}  // namespace ares::kubernetes
