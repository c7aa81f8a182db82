// Where strangers show their credentials: a few threads that ask munged, so that no gRPC thread waits for it.
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

struct Admitted {
  auth::SessionKey key;
  auth::Identity identity;
};

class Door {
 public:
  using Done = std::function<void(Result<Admitted>)>;
  using UserName = std::function<std::string(UserId)>;

  // `user_name` empty: the name service is asked.
  Door(std::string munge_socket, std::size_t threads, UserName user_name);
  ~Door();  // stop()

  // `done` runs once, on a thread of the door; on this one if the queue is full or the door closed.
  void admit(std::string credential, Done done);

  // Whoever waits is turned away. Nothing runs afterwards.
  void stop();

 private:
  struct Visitor {
    std::string credential;
    Done done;
  };
  void work();
  Result<Admitted> check(const std::string& credential);
  std::string name_of(UserId uid);

  const std::string munge_socket_;
  const UserName user_name_;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Visitor> visitors_;
  bool closed_ = false;

  struct Name {
    std::string text;
    std::chrono::steady_clock::time_point until;
  };
  std::mutex names_mutex_;
  std::unordered_map<UserId, Name> names_;

  std::vector<std::jthread> threads_;
};

// The name service's name of a user, or "uid 1234".
std::string system_user_name(UserId uid);

}  // namespace ares::rpc
