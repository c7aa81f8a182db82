// What kinds of texts users send. Constant data; any thread.
#pragma once

#include <cstdint>

namespace ares {

// The kind of a text determines its maximum length and the characters allowed.
enum class TextKind : std::uint8_t {
  name,      // 255 bytes, no control characters: used in tables, file names and options
  title,     // 1024 bytes, no control characters: job names
  path,      // 4095 bytes, no control characters, which could manipulate terminals
  prose,     // 4096 bytes, no control characters except newline and tab
  argument,  // 131071 bytes, anything but NUL, as execve() takes it
  none,      // not a text
};

}  // namespace ares
