// Keys that two processes share, by which they prove to each other that they know them. Pure functions
// but for random_bytes(); any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::auth {

inline constexpr std::size_t kSharedKeyBytes = 32;

// HMAC-SHA-512/256 of `purpose`: another purpose gives an unrelated key. `secret` has kSharedKeyBytes.
std::string derive_key(std::string_view secret, std::string_view purpose);

// Knowledge of the key, bound to the statement: what is proven, to which process, with both sides' random numbers.
std::string prove(std::string_view key, std::string_view statement);
// In constant time. unauthenticated if it is not the proof of that statement, or if the key is shorter
// than kSharedKeyBytes.
Status verify(std::string_view key, std::string_view statement, std::string_view proof);

std::string random_bytes(std::size_t count);

std::string to_hex(std::string_view bytes);
// invalid_argument if it is not hexadecimal.
Result<std::string> from_hex(std::string_view text);

}  // namespace ares::auth
