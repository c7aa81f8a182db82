// Names of histories of a database: "DATABASE" is the first one, "DATABASE/BEGIN-RANDOM" one that a
// rollback began at that position. Pure; any thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "base/ids.h"

namespace ares {

inline std::string name_history(const std::string& database, Lsn begin, const std::string& random) {
  return database + "/" + std::to_string(begin.value()) + "-" + random;
}

// What has a position up to this is from before the rollback. 0 for the first history.
inline Lsn begin_of(const std::string& history) {
  const auto slash = history.find('/');
  if (slash == std::string::npos) return Lsn{};
  std::uint64_t begin = 0;
  std::from_chars(history.data() + slash + 1, history.data() + history.size(), begin);
  return Lsn{begin};
}

}  // namespace ares
