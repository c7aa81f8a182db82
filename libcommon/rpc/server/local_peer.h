// One client on the local socket: its partial requests, calls and unsent answers.
// Created and read by the local server's thread; any thread may send answers. Private to rpc/.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "rpc/server/call_context.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

// With too many calls or unsent answers a client is not read; over the other limits it is closed.
struct LocalLimits {
  std::size_t connections = 8192;
  std::size_t connections_per_user = 2048;
  std::size_t calls_per_connection = 1024;
  std::size_t unsent_per_connection = 4u << 20;     // bytes of answers
  std::size_t partial_bytes_per_user = 128u << 20;  // bytes of requests
  std::size_t unsent_bytes_per_user = 128u << 20;   // bytes of answers
  std::size_t calls_per_user = 16384;               // that wait for their answer
  std::vector<UserId> unbounded;  // may have as many connections as there are descriptors
};

// What all connections of a user keep in memory together.
struct UserLoad {
  std::atomic<std::size_t> calls = 0;
  std::atomic<std::size_t> unsent_bytes = 0;
};

// The other end, as the system names it.
struct LocalUser {
  UserId uid;
  GroupId gid;
  std::shared_ptr<UserLoad> load;
  bool is_known = true;  // false: one of many that have no uid in the controller's user namespace
};

class LocalPeer : public std::enable_shared_from_this<LocalPeer> {
 public:
  // Not yet registered with `epoll`.
  LocalPeer(Socket socket, LocalUser user, int epoll, std::uint64_t id, const LocalLimits& limits)
      : user_(std::move(user)),
        epoll_(epoll),
        id_(id),
        limits_(limits),
        socket_(std::move(socket)) {}

  // On the server's thread, likewise all up to close(). False: disconnected, or an invalid frame was received; call close().
  bool watch();
  // Reads what has arrived and sends what the socket takes.
  bool ready(std::uint32_t events);
  // Whether handle_next() has something to do.
  bool has_request(const CallContext& call_context);
  bool handle_next(const CallContext& call_context);
  // Nothing more is read from a peer whose next request waits for its turn.
  void wait_for_turn(bool waits);
  // Bytes received of requests that are not handled yet.
  std::size_t partial_bytes() const { return input_.size() - handled_; }
  UserId user() const { return user_.uid; }

  // Abandons its calls and sends a refusal if the socket is still open.
  void close();

  // Sends one frame to it. Any thread.
  void send_frame(const std::string& frame);

 private:
  bool read();
  bool handle_frame(std::uint32_t call, std::uint32_t code, std::string_view body,
                    const CallContext& call_context);
  void answer(std::uint32_t call, Result<api::Sealed> result);
  void send_part(std::uint32_t call, const api::Sealed& part, Responder::Taken taken);
  void write(const std::string& bytes) ARES_REQUIRES(mutex_);
  void flush() ARES_REQUIRES(mutex_);
  void count_unsent() ARES_REQUIRES(mutex_);
  bool full() const ARES_REQUIRES(mutex_);
  void update_epoll() ARES_REQUIRES(mutex_);

  const LocalUser user_;
  const int epoll_;
  const std::uint64_t id_;
  const LocalLimits& limits_;

  std::string input_;             // this and the next on the server's thread only
  std::size_t handled_ = 0;       // bytes of `input_`
  std::uint64_t to_discard_ = 0;  // remaining bytes of a request that is too large

  Mutex mutex_;
  // Closed by the server's thread only, with the mutex locked; that thread reads it without.
  Socket socket_;
  std::string output_ ARES_GUARDED_BY(mutex_);
  std::size_t counted_unsent_ ARES_GUARDED_BY(mutex_) = 0;  // bytes, for its user
  std::map<std::uint32_t, std::shared_ptr<Answer>> calls_ ARES_GUARDED_BY(mutex_);
  std::vector<Responder::Taken> sending_parts_ ARES_GUARDED_BY(mutex_);  // not all of them sent
  std::uint32_t epoll_events_ ARES_GUARDED_BY(mutex_) = 0;
  bool waits_for_turn_ ARES_GUARDED_BY(mutex_) = false;
  bool paused_ ARES_GUARDED_BY(mutex_) = false;  // not read until answers have been sent
};

}  // namespace ares::rpc
