#include "cli/table.h"

#include <algorithm>

namespace ares::cli {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Columns on a terminal: bytes that do not continue a UTF-8 character.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

std::string cut(std::string_view text, std::size_t width) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (shown == width) return std::string(text.substr(0, i));
    ++shown;
  }
  return std::string(text);
}

std::string put(const std::string& cell, const Piece& piece, std::size_t width, bool whole,
                bool last) {
  if (width == 0) return cell;
  const std::string text = whole ? cell : cut(cell, width);
  const std::size_t shown = display_width(text);
  const std::string pad(shown < width ? width - shown : 0, ' ');
  if (piece.right) return pad + text;
  return last ? text : text + pad;
}

}  // namespace

Result<std::vector<Piece>> parse_format(std::string_view format) {
  std::vector<Piece> pieces;
  const auto literal = [&](char c) {
    if (pieces.empty()) pieces.emplace_back();
    pieces.back().literal += c;
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      literal(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      literal('%');
      ++i;
      continue;
    }
    Piece piece;
    std::size_t at = i + 1;
    for (; at < format.size() && !is_letter(format[at]); ++at) {
      if (format[at] == '.') {
        piece.right = true;
      } else if (format[at] == '#') {
        piece.fit = true;
      } else if (format[at] >= '0' && format[at] <= '9' && piece.width < 1000) {
        piece.width = piece.width * 10 + static_cast<unsigned>(format[at] - '0');
      } else {
        break;
      }
    }
    if (at >= format.size() || !is_letter(format[at]))
      return fail(ErrorCode::invalid_argument, "format \"" + std::string(format) +
                                                   "\": expected %[.][WIDTH]LETTER at column " +
                                                   std::to_string(i + 1));
    piece.letter = format[at];
    pieces.push_back(std::move(piece));
    i = at;
  }
  return pieces;
}

std::string layout(const Listing& listing, bool with_header) {
  std::vector<const std::vector<std::string>*> lines;
  if (with_header) lines.push_back(&listing.headers);
  for (const auto& row : listing.rows) lines.push_back(&row);

  std::vector<std::size_t> widths;
  for (const Piece& piece : listing.pieces) {
    if (!piece.letter) continue;
    std::size_t width = piece.width;
    if (piece.fit)
      for (const auto* line : lines) width = std::max(width, display_width((*line)[widths.size()]));
    widths.push_back(width);
  }

  std::string out;
  for (const auto* line : lines) {
    std::size_t cell = 0;
    for (std::size_t i = 0; i < listing.pieces.size(); ++i) {
      const Piece& piece = listing.pieces[i];
      const bool last = i + 1 == listing.pieces.size() && piece.literal.empty();
      if (piece.letter) {
        out += put((*line)[cell], piece, widths[cell], listing.whole[cell], last);
        ++cell;
      }
      out += piece.literal;
    }
    out += '\n';
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

}  // namespace ares::cli
