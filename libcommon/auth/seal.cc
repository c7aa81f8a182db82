#include "auth/seal.h"

#include <cstring>

#include <sodium.h>

#include "auth/sodium.h"

namespace ares::auth {
namespace {

// States the purpose of the credential, so that one made for another program is not accepted.
constexpr std::string_view kPurpose = "ares session key 1\n";

using Mac = std::array<unsigned char, crypto_auth_BYTES>;

void put(std::array<unsigned char, 17>& header, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i)
    header[at + i] = static_cast<unsigned char>(value >> (56 - 8 * i));
}

// The header has a fixed length, so different messages never give the same input to the MAC.
Mac compute(const SessionKey& key, Direction direction, std::uint64_t session,
            std::uint64_t sequence, std::string_view payload) {
  ensure_sodium();
  std::array<unsigned char, 17> header;
  header[0] = static_cast<unsigned char>(direction);
  put(header, 1, session);
  put(header, 9, sequence);
  crypto_auth_hmacsha512256_state state;
  crypto_auth_hmacsha512256_init(&state, key.data(), SessionKey::kSize);
  crypto_auth_hmacsha512256_update(&state, header.data(), header.size());
  crypto_auth_hmacsha512256_update(&state, reinterpret_cast<const unsigned char*>(payload.data()),
                                   payload.size());
  Mac mac;
  crypto_auth_hmacsha512256_final(&state, mac.data());
  sodium_memzero(&state, sizeof state);
  return mac;
}

}  // namespace

SessionKey SessionKey::random() {
  ensure_sodium();
  SessionKey key;
  randombytes_buf(key.bytes_.data(), key.bytes_.size());
  return key;
}

SessionKey::~SessionKey() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

std::string SessionKey::to_credential_payload() const {
  std::string payload(kPurpose);
  payload.append(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  return payload;
}

Result<SessionKey> SessionKey::from_credential_payload(std::string_view payload) {
  if (!payload.starts_with(kPurpose) || payload.size() != kPurpose.size() + kSize)
    return fail(ErrorCode::unauthenticated,
                "the credential was not made for a session of Ares; client and controller may be "
                "of incompatible versions");
  SessionKey key;
  std::memcpy(key.bytes_.data(), payload.data() + kPurpose.size(), kSize);
  return key;
}

std::string seal(const SessionKey& key, Direction direction, std::uint64_t session,
                 std::uint64_t sequence, std::string_view payload) {
  const Mac mac = compute(key, direction, session, sequence, payload);
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

Status verify_seal(const SessionKey& key, Direction direction, std::uint64_t session,
                   std::uint64_t sequence, std::string_view payload, std::string_view mac) {
  const Mac expected = compute(key, direction, session, sequence, payload);
  if (mac.size() != expected.size() ||
      sodium_memcmp(mac.data(), expected.data(), expected.size()) != 0)
    return fail(ErrorCode::unauthenticated,
                "the message's seal does not match it: it was changed on its way");
  return {};
}

bool ReplayWindow::accept(std::uint64_t sequence) {
  if (sequence == 0) return false;
  if (sequence <= highest_) {
    if (highest_ - sequence >= kSpan || seen_[sequence % kSpan]) return false;
    seen_.set(sequence % kSpan);
    return true;
  }
  // Skipped sequence numbers may still arrive, so they are marked as not seen.
  if (sequence - highest_ >= kSpan) {
    seen_.reset();
  } else {
    for (std::uint64_t skipped = highest_ + 1; skipped < sequence; ++skipped)
      seen_.reset(skipped % kSpan);
  }
  seen_.set(sequence % kSpan);
  highest_ = sequence;
  return true;
}

}  // namespace ares::auth
