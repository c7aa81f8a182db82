// Listings in columns, as the queue and node listings describe them: "%.18i %9P|%j".
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/text.h"

namespace ares::cli {

// One field of a listing and the text that follows it.
struct Piece {
  char letter = 0;      // 0: only the literal
  unsigned width = 0;   // 0 = as wide as the cell
  bool right = false;   // '.' in the format
  bool fit = false;     // '#' in the format: as wide as the widest cell
  std::string literal;  // behind it
};

// %[.][#][WIDTH]LETTER, everything else literal; %% is a percent sign. invalid_argument for a % without a letter.
Result<std::vector<Piece>> parse_format(std::string_view format);

struct Cells {
  std::vector<std::string> texts;  // one for each piece with a letter
};

// One column of a listing of Rows.
template <class Row>
struct Column {
  char letter;
  std::string header;
  std::string help;
  std::function<std::string(const Row&)> text;
  bool whole = false;  // never cut to its width: identities
};

// What a listing prints, ready for layout.
struct Listing {
  std::vector<Piece> pieces;
  std::vector<bool> whole;           // for each piece with a letter
  std::vector<std::string> headers;  // likewise
  std::vector<std::vector<std::string>> rows;
};

// Lines padded and cut to the pieces' widths, ending in a newline each.
std::string layout(const Listing& listing, bool with_header);

// Matches the letters of `format` against the columns; a letter without column is refused by name.
template <class Row>
Result<Listing> make_listing(std::string_view format, const std::vector<Column<Row>>& columns,
                             const std::vector<Row>& rows) {
  auto pieces = parse_format(format);
  if (!pieces) return fail(pieces.error());
  Listing listing;
  std::vector<const Column<Row>*> chosen;
  for (const Piece& piece : *pieces) {
    if (!piece.letter) continue;
    const Column<Row>* found = nullptr;
    for (const auto& column : columns)
      if (column.letter == piece.letter) found = &column;
    if (!found)
      return fail(ErrorCode::invalid_argument,
                  std::string("format: %") + piece.letter + " is not supported yet");
    chosen.push_back(found);
    listing.headers.push_back(found->header);
    listing.whole.push_back(found->whole);
  }
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const auto* column : chosen) cells.push_back(column->text(row));
    listing.rows.push_back(std::move(cells));
  }
  listing.pieces = std::move(*pieces);
  return listing;
}

// One line of help for each column, for manual pages.
template <class Row>
std::vector<std::string> describe_columns(const std::vector<Column<Row>>& columns) {
  std::vector<std::string> lines;
  for (const auto& column : columns)
    lines.push_back(std::string("%") + column.letter + "  " + column.header + ": " + column.help);
  return lines;
}

// `text` without control characters, so that no job name can move a terminal's cursor.
std::string printable(std::string_view text);

}  // namespace ares::cli
