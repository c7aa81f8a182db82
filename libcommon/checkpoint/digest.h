// SHA-256 of files. Stateless; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace ares::checkpoint {

using Digest = std::array<std::uint8_t, 32>;

struct FileDigest {
  Digest digest{};
  Bytes size{};
};

Digest digest_of_text(std::string_view text);

// Of a regular file, which is not reached through a symbolic link. With `sync` its content is durable when
// this returns. failed_precondition: it is something else.
Result<FileDigest> digest_of_file(const std::string& path, bool sync = false);

}  // namespace ares::checkpoint
