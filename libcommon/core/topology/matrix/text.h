// Lines and words of a pasted text, with column numbers for error messages.
// Views into a text that the caller owns; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/result.h"

namespace ares::core::topology {

struct TextPosition {
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // from 1, in bytes
};

// invalid_argument: "line 3, column 9: ...".
tl::unexpected<Error> fail_at(TextPosition place, const std::string& why);

struct Word {
  std::string_view text;
  std::size_t column = 0;  // from 1
};

// Words separated by blanks and tabs. `first_column` is the column of the start of `text`.
std::vector<Word> words_of(std::string_view text, std::size_t first_column = 1);

// Cells separated by tabs, without surrounding blanks; empty cells are kept.
std::vector<Word> cells_of(std::string_view text, std::size_t first_column);

struct Line {
  std::string text;  // original length; terminal escape sequences are replaced by blanks
  std::size_t number = 0;
};

// Iterates over lines, without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  std::optional<Line> next();

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace ares::core::topology
