// The server's sessions: key, identity and replay window of each. Their number and idle time are
// limited. Owned by the server; any thread. The client of a dropped session only needs a new
// credential.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "auth/seal.h"
#include "base/ids.h"
#include "base/result.h"

namespace ares::auth {

// The owner of a session.
struct Identity {
  UserId uid;
  GroupId gid;
  std::string user;  // name, or "uid 1234"
  std::string host;  // machine on which the credential was made
};

struct Session {
  std::uint64_t id = 0;
  std::shared_ptr<const SessionKey> key;
  std::shared_ptr<const Identity> identity;
};

class SessionTable {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t sessions = 16384;
    std::size_t sessions_per_user = 2048;  // beyond: the user's longest idle session is dropped
    std::chrono::seconds idle{600};
  };

  SessionTable();
  explicit SessionTable(Limits limits);
  ~SessionTable();

  // Ids are random, so an id from before a restart of the server is not valid afterwards.
  Session open(SessionKey key, Identity identity, Clock::time_point now);

  // Verifies the seal and that `sequence` is new. Errors are unauthenticated; with the message
  // kSessionUnknown the client should send a fresh credential.
  Result<Session> accept(std::uint64_t session, std::uint64_t sequence, std::string_view payload,
                         std::string_view mac, Clock::time_point now);

  std::size_t size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The error message that makes a client authenticate again.
inline constexpr std::string_view kSessionUnknown = "session unknown";

}  // namespace ares::auth
