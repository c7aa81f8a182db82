// One line of the PMI-1 protocol, "cmd=put kvsname=K key=A value=B", as a client sent it.
// Points into the text it was read from. Pure; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ares::pmi {

// What a client may send and is told by get_maxes. MPICH reads and writes lines of at most 1024 bytes,
// so a value of full length fits into one together with its key and the name of the key-value space.
inline constexpr std::size_t kMostLine = 1024;  // without the end of the line
inline constexpr std::size_t kMostSpaceName = 64;
inline constexpr std::size_t kMostKey = 64;
inline constexpr std::size_t kMostValue = 800;

class Pmi1Line {
 public:
  // invalid_argument for a line that is not made of NAME=VALUE, has too many of them, or contains a
  // control character.
  static Result<Pmi1Line> read(std::string_view line);

  // The first field's name: "cmd", or "mcmd" where a command of several lines begins.
  std::string_view kind() const { return fields_.front().first; }
  std::string_view command() const { return fields_.front().second; }
  // Empty if there is no such field.
  std::string_view field(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> fields_;  // at least one
};

// Of 1 to kMostKey visible ASCII characters other than '='.
bool is_key(std::string_view text);
// Of at most kMostValue bytes without control characters.
bool is_value(std::string_view text);

}  // namespace ares::pmi
