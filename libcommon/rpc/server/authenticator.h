// Authenticator: threads that let munged check credentials, so that gRPC's threads do not block.
// Owned by the server; any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "auth/seal.h"
#include "auth/session_table.h"
#include "base/result.h"

namespace ares::rpc {

struct AuthenticatedPeer {
  auth::SessionKey key;
  auth::Identity identity;
};

class Authenticator {
 public:
  using Done = std::function<void(Result<AuthenticatedPeer>)>;
  using UserName = std::function<std::string(UserId)>;

  // Empty `user_name`: ask the name service.
  Authenticator(std::string munge_socket, std::size_t threads, UserName user_name);
  ~Authenticator();  // stop()

  // `done` runs once, on a thread of this object; on the caller's if the queue is full or stopped.
  void authenticate(std::string credential, Done done);

  // Pending requests fail as unavailable. No callback runs afterwards.
  void stop();

 private:
  struct PendingAuth {
    std::string credential;
    Done done;
  };
  void run();
  Result<AuthenticatedPeer> check(const std::string& credential);
  std::string name_of(UserId uid);

  const std::string munge_socket_;
  const UserName user_name_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PendingAuth> pending_;
  bool stopping_ = false;

  struct Name {
    std::string text;
    std::chrono::steady_clock::time_point until;
  };
  std::mutex names_mutex_;
  std::unordered_map<UserId, Name> names_;

  std::vector<std::jthread> threads_;
};

// The user's name in the name service, or "uid 1234".
std::string system_user_name(UserId uid);

}  // namespace ares::rpc
