// The digest that names a stored blob (a script, an environment): SHA-256 of its bytes.
// Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ares::auth {

using BlobDigest = std::array<std::uint8_t, 32>;

BlobDigest blob_id(std::string_view content);

}  // namespace ares::auth
