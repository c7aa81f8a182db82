// Finds out who a caller is, on threads of its own: munged and the name service may take long, and no thread that serves
// all callers may wait for them. What waits is bounded in all and for each source, so that no caller fills the queue alone.
// Owned by the server; any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "auth/seal.h"
#include "auth/session_table.h"
#include "base/mutex.h"
#include "base/result.h"

namespace ares::rpc {

struct AuthenticatedPeer {
  auth::SessionKey key;
  auth::Identity identity;
};

class Authenticator {
 public:
  using Done = std::function<void(Result<AuthenticatedPeer>)>;
  using Identified = std::function<void(Result<auth::Identity>)>;
  using Gone = std::function<bool()>;  // true: no caller waits for the answer; any thread
  using UserName = std::function<std::string(UserId)>;

  // Empty `user_name`: ask the name service.
  Authenticator(std::string munge_socket, std::size_t threads, UserName user_name);
  ~Authenticator();  // stop()

  // `done` runs once, on a thread of the authenticator; on this one if it is refused a place in the queue or the
  // authenticator has stopped. The place counts for `source`; `bytes` are kept for the caller meanwhile. A caller that is
  // gone when its turn comes is not looked up; empty `gone`: it always waits.
  void authenticate(std::string credential, const std::string& source, std::size_t bytes, Gone gone,
                    Done done);

  // The same for a caller on this machine, whose uid the system has named. On this thread if the user's name is known.
  void identify(UserId uid, GroupId gid, std::size_t bytes, Gone gone, Identified done);

  // Callers that wait are refused. Nothing runs afterwards.
  void stop();

 private:
  struct Waiting {
    std::string source;
    std::size_t bytes;
    Gone gone;
    std::function<void(const Status& may_run)> work;
  };
  void enqueue(Waiting waiting);
  std::optional<Error> refusal(const Waiting& waiting) const ARES_REQUIRES(mutex_);
  void run();
  Result<AuthenticatedPeer> check(const std::string& credential);
  auth::Identity local_identity(UserId uid, GroupId gid, std::string name) const;
  std::optional<std::string> known_name(UserId uid);
  std::string name_of(UserId uid);

  const std::string munge_socket_;
  const UserName user_name_;
  const std::string host_;  // of this machine

  Mutex mutex_;
  Condition wake_;
  std::deque<Waiting> waiting_ ARES_GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> waiting_of_ ARES_GUARDED_BY(mutex_);  // by source
  std::size_t waiting_bytes_ ARES_GUARDED_BY(mutex_) = 0;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;

  struct Name {
    std::string text;
    std::chrono::steady_clock::time_point until;
  };
  Mutex names_mutex_;
  std::unordered_map<UserId, Name> names_ ARES_GUARDED_BY(names_mutex_);

  std::vector<std::jthread> threads_;
};

// The user's name in the name service, or "uid 1234".
std::string system_user_name(UserId uid);

}  // namespace ares::rpc
