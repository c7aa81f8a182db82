#include "auth/shared_key.h"

#include <array>

#include <sodium.h>

#include "auth/sodium.h"

namespace ares::auth {
namespace {

static_assert(crypto_auth_hmacsha512256_BYTES == kSharedKeyBytes);

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string derive_key(std::string_view secret, std::string_view purpose) {
  return prove(secret, purpose);
}

std::string prove(std::string_view key, std::string_view statement) {
  ensure_sodium();
  std::array<unsigned char, crypto_auth_hmacsha512256_BYTES> mac;
  crypto_auth_hmacsha512256_state state;
  crypto_auth_hmacsha512256_init(&state, bytes_of(key), key.size());
  crypto_auth_hmacsha512256_update(&state, bytes_of(statement), statement.size());
  crypto_auth_hmacsha512256_final(&state, mac.data());
  sodium_memzero(&state, sizeof state);
  return {mac.begin(), mac.end()};
}

Status verify(std::string_view key, std::string_view statement, std::string_view proof) {
  const std::string expected = prove(key, statement);
  if (key.size() >= kSharedKeyBytes && proof.size() == expected.size() &&
      sodium_memcmp(proof.data(), expected.data(), expected.size()) == 0)
    return {};
  return fail(ErrorCode::unauthenticated, "the proof of a key is wrong");
}

std::string random_bytes(std::size_t count) {
  ensure_sodium();
  std::string bytes(count, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

Result<std::string> from_hex(std::string_view text) {
  const auto refuse = [] {
    return fail(ErrorCode::invalid_argument, "a hexadecimal number was expected");
  };
  if (text.size() % 2 != 0) return refuse();
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = value_of(text[i]), low = value_of(text[i + 1]);
    if (high < 0 || low < 0) return refuse();
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace ares::auth
