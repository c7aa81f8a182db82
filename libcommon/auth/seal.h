// What protects messages after the first: a key per session and a MAC over everything that is said
// with it. Plain values owned by whoever speaks; any thread, one at a time for each object.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::auth {

// 32 secret bytes, wiped when they go.
class SessionKey {
 public:
  static constexpr std::size_t kSize = 32;

  static SessionKey random();

  SessionKey(const SessionKey&) = default;
  SessionKey& operator=(const SessionKey&) = default;
  ~SessionKey();

  const std::uint8_t* data() const { return bytes_.data(); }

  // How the key travels inside a credential, and back. unauthenticated for anything else.
  std::string to_credential_payload() const;
  static Result<SessionKey> from_credential_payload(std::string_view payload);

 private:
  SessionKey() = default;
  std::array<std::uint8_t, kSize> bytes_{};
};

// Who says it, on which kind of call: a message cannot be played back in another place.
enum class Direction : std::uint8_t { request = 1, answer = 2, node_up = 3, node_down = 4 };

// HMAC-SHA-512/256 over direction, session, sequence and payload.
std::string seal(const SessionKey& key, Direction direction, std::uint64_t session,
                 std::uint64_t sequence, std::string_view payload);

// In constant time. unauthenticated if anything was changed.
Status verify_seal(const SessionKey& key, Direction direction, std::uint64_t session,
                   std::uint64_t sequence, std::string_view payload, std::string_view mac);

// Sequence numbers already seen. Messages in flight together may arrive in any order, but none
// twice; one that is kSpan or more behind the highest counts as seen.
class ReplayWindow {
 public:
  static constexpr std::uint64_t kSpan = 4096;

  // False if `sequence` is 0, was accepted before, or is too old to tell. To be asked only about
  // messages whose seal is right.
  bool accept(std::uint64_t sequence);

 private:
  std::uint64_t highest_ = 0;
  std::bitset<kSpan> seen_;  // bit sequence % kSpan
};

}  // namespace ares::auth
