// The server's sessions: key, identity and replay window of each, bounded in number and in idle
// time. Owned by the server; any thread. A session that was dropped costs its client one new
// credential, nothing else.
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

// Whom a session belongs to.
struct Identity {
  UserId uid;
  GroupId gid;
  std::string user;  // name, or "uid 1234"
  std::string host;  // where the credential was made
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
    std::size_t sessions_per_user = 2048;  // beyond: that user's longest idle one goes
    std::chrono::seconds idle{600};
  };

  SessionTable();
  explicit SessionTable(Limits limits);
  ~SessionTable();

  // Ids are random, so that one given before a restart of the server means nothing afterwards.
  Session open(SessionKey key, Identity identity, Clock::time_point now);

  // Checks the seal and that `sequence` is new. unauthenticated; where the message is
  // kSessionUnknown, a fresh credential helps.
  Result<Session> accept(std::uint64_t session, std::uint64_t sequence, std::string_view payload,
                         std::string_view mac, Clock::time_point now);

  std::size_t size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The text by which a client learns that it must authenticate again.
inline constexpr std::string_view kSessionUnknown = "session unknown";

}  // namespace ares::auth
