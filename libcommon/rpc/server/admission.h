// Bounds what callers by TCP can use up: connections, and bytes that gRPC has to keep. A connection counts for its address
// until something that came by it was authenticated, then for its user. Owned by the server; any thread. Private to rpc/.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "rpc/server/http2_meter.h"
#include "rpc/server/problems.h"
#include "rpc/wire/received_bytes.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

struct AdmissionLimits {
  std::size_t unproven = 1024;  // connections; beyond, the oldest gives way
  std::size_t unproven_per_address = 256;
  std::size_t connections_per_user = 256;
  std::size_t max_message_bytes = 8 << 20;
  // What a connection may have sent without being counted: a request of the usual size always gets through.
  std::size_t free_bytes = 64 << 10;
  std::size_t unproven_bytes = 256u << 20;
  std::size_t unproven_bytes_per_address = 64u << 20;
  std::size_t partial_bytes_per_user = 128u << 20;
  std::size_t unsent_bytes_per_user = 128u << 20;
  std::size_t unproven_streams = 16;  // opened by one connection
  std::chrono::seconds time_to_prove{30};
};

// Where a connection comes from.
struct PeerName {
  std::string peer;     // "ipv4:192.0.2.1:4711", as gRPC writes it
  std::string address;  // "192.0.2.1"; of IPv6 the first 64 bits, of which one machine may have all
};

class Admission {
 public:
  using Clock = std::chrono::steady_clock;
  class Connection;

  // `trusted` are the users of node daemons: once one of them is authenticated, its connection is not bounded.
  Admission(AdmissionLimits limits, std::vector<UserId> trusted, Problems& problems);
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // `socket` is a duplicate of the connection's, by which it can be cut.
  std::shared_ptr<Connection> admit(PeerName name, Socket socket, Clock::time_point now);

  // A message of `peer` was authenticated as one of `user`. unavailable: the user has too many connections.
  Status authenticated(const std::string& peer, UserId user);

  // An answer of so many bytes is kept for the user of `peer` until the result is destroyed. Null: too much is kept already.
  using Kept = std::shared_ptr<const void>;
  Kept keep_answer(const std::string& peer, std::size_t bytes);

  // Cuts the connections that had time enough to authenticate and did not.
  void expire(Clock::time_point now);

  // The connection has ended.
  void drop(const std::shared_ptr<Connection>& connection);

  // What is counted now; for tests.
  std::size_t unproven() const;
  std::size_t unproven_bytes() const;

 private:
  struct Address {
    std::size_t connections = 0;
    std::size_t bytes = 0;
  };
  struct User {
    std::size_t connections = 0;
    std::size_t bytes = 0;         // of requests
    std::size_t unsent_bytes = 0;  // of answers
  };

  bool received(Connection& connection, std::string_view bytes);
  bool count_unproven(Connection& connection) ARES_REQUIRES(mutex_);
  bool count_partial(Connection& connection) ARES_REQUIRES(mutex_);
  void cut_oldest_if_full(const std::string& address) ARES_REQUIRES(mutex_);
  void cut(Connection& connection) ARES_REQUIRES(mutex_);
  void forget_unproven(Connection& connection) ARES_REQUIRES(mutex_);
  void discount_unproven(Connection& connection) ARES_REQUIRES(mutex_);
  void tidy(const std::string& address) ARES_REQUIRES(mutex_);
  void tidy(UserId user) ARES_REQUIRES(mutex_);

  const AdmissionLimits limits_;
  const std::vector<UserId> trusted_;
  Problems& problems_;

  mutable Mutex mutex_;
  std::uint64_t last_id_ ARES_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Connection*> unproven_ ARES_GUARDED_BY(mutex_);  // the oldest first
  std::map<std::string, std::shared_ptr<Connection>> by_peer_ ARES_GUARDED_BY(mutex_);
  std::map<std::string, Address> addresses_ ARES_GUARDED_BY(mutex_);
  std::map<UserId, User> users_ ARES_GUARDED_BY(mutex_);
  std::size_t unproven_bytes_ ARES_GUARDED_BY(mutex_) = 0;
};

class Admission::Connection final : public ReceiveWatch {
 public:
  Connection(Admission& admission, PeerName name, Socket socket, const AdmissionLimits& limits);
  bool received(std::string_view bytes) override;

  int fd() const { return socket_.fd(); }
  const PeerName& name() const { return name_; }

 private:
  friend class Admission;
  enum class Standing : std::uint8_t { unproven, user, trusted, gone };

  Admission& admission_;
  const PeerName name_;
  const Socket socket_;
  std::atomic<bool> trusted_ = false;

  // With the admission's mutex locked; clang cannot tell it from that of another admission.
  std::uint64_t id_ = 0;
  Clock::time_point since_;
  Http2Meter meter_;
  Standing standing_ = Standing::unproven;
  UserId user_{};
  std::size_t counted_ = 0;  // bytes, for its address or user
  bool cut_ = false;
};

}  // namespace ares::rpc
