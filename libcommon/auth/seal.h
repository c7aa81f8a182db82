// Protects the messages of a session after its first: a session key and a MAC over each message.
// Plain values; any thread, but one at a time for each object.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::auth {

// 32 secret bytes, wiped by the destructor.
class SessionKey {
 public:
  static constexpr std::size_t kSize = 32;

  static SessionKey random();

  SessionKey(const SessionKey&) = default;
  SessionKey& operator=(const SessionKey&) = default;
  ~SessionKey();

  const std::uint8_t* data() const { return bytes_.data(); }

  // The key as payload of a credential, and back. unauthenticated if the payload is anything else.
  std::string to_credential_payload() const;
  static Result<SessionKey> from_credential_payload(std::string_view payload);

 private:
  SessionKey() = default;
  std::array<std::uint8_t, kSize> bytes_{};
};

// Sender and kind of call. It is part of the MAC, so a message cannot be replayed in another place.
enum class Direction : std::uint8_t { request = 1, answer = 2, node_up = 3, node_down = 4 };

// HMAC-SHA-512/256 over direction, session, sequence and payload.
std::string seal(const SessionKey& key, Direction direction, std::uint64_t session,
                 std::uint64_t sequence, std::string_view payload);

// Constant-time comparison. unauthenticated if any part was changed.
Status verify_seal(const SessionKey& key, Direction direction, std::uint64_t session,
                   std::uint64_t sequence, std::string_view payload, std::string_view mac);

// Sequence numbers already seen. Messages may arrive in any order, but each at most once; a number
// that is kSpan or more behind the highest counts as seen.
class ReplayWindow {
 public:
  static constexpr std::uint64_t kSpan = 4096;

  // False if `sequence` is 0, was accepted before, or is too old to tell. Call it only for messages
  // whose seal was verified.
  bool accept(std::uint64_t sequence);

 private:
  std::uint64_t highest_ = 0;
  std::bitset<kSpan> seen_;  // bit sequence % kSpan
};

}  // namespace ares::auth
