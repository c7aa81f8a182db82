// The lines and words of a text that people paste, with the columns that messages name.
// Views into a text that the caller keeps; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::core::topology {

struct TextPosition {
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1, in bytes
};

// invalid_argument: "line 3, column 9: ...".
tl::unexpected<Error> fail_at(TextPosition place, const std::string& why);

// `text` in quotes, at most 40 bytes of it, bytes that do not print as '?'.
std::string quoted(std::string_view text);

struct Word {
  std::string_view text;
  std::size_t column = 0;  // from 1
};

// What blanks and tabulators part. `first_column` is where `text` begins.
std::vector<Word> words_of(std::string_view text, std::size_t first_column = 1);

// The pieces between tabulators without the blanks around them; empty ones stay.
std::vector<Word> cells_of(std::string_view text, std::size_t first_column);

struct Line {
  std::string text;  // as long as it was; escape sequences of terminals are blanks now
  std::size_t number = 0;
};

// One line after the other, without its end.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  std::optional<Line> next();

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace ares::core::topology
