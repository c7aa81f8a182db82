// Listings in columns, described by formats such as "%.18i %9P|%j" or "JobID:10,Name". A listing
// belongs to one thread; the rest are pure functions and plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"

namespace ares::cli {

// One column of a listing of Rows. Formats, sorting, headers and the manual use it.
template <class Row>
struct Column {
  char letter = 0;        // in -o; 0 = none
  std::string_view name;  // in -O; "" = none
  std::string_view header;
  std::string_view help;
  void (*put)(const Row&, std::string& out) = nullptr;  // appends the cell's text
  std::array<std::uint32_t, 6> needs{};  // Fields of the row's message that it reads; 0 = end.
  std::int64_t (*number)(const Row&) = nullptr;  // Sort key; null = the text.
  // Never truncated: identifiers. With a shrink_order their lists of indices are shortened.
  bool never_cut = false;
  // Order in which columns shrink if the terminal is too narrow; 0 = never.
  unsigned shrink_order = 0;
  // The column's behaviour for rows that combine several objects; values are the command's own.
  unsigned fold = 0;
  bool is_state = false;  // Its cells are states, which may be coloured.
};

// All columns of a command, and the columns of other systems that are refused by name.
template <class Row>
struct Columns {
  std::vector<Column<Row>> supported;
  std::vector<Unsupported> unsupported{};
};

// Builds a table from groups of columns, in order. `names` are further refused columns without a
// letter.
template <class Row>
Columns<Row> make_columns(std::initializer_list<std::vector<Column<Row>> (*)()> groups,
                          std::vector<Unsupported> unsupported,
                          std::initializer_list<const char*> names) {
  Columns<Row> made;
  for (auto* group : groups)
    for (auto& column : group()) made.supported.push_back(std::move(column));
  made.unsupported = std::move(unsupported);
  for (const char* name : names) made.unsupported.push_back({0, name});
  return made;
}

// One field of a format and the text that follows it.
struct FormatItem {
  char letter = 0;
  std::string name;    // If there is neither letter nor name, the item is only the literal.
  unsigned width = 0;  // 0 = as wide as the cell.
  bool right = false;  // '.' in the format
  // '#' in the format: `width` is the minimum; the column grows to its widest cell.
  bool fit = false;
  std::string literal;  // Text after the field.

  bool has_column() const { return letter != 0 || !name.empty(); }
};

// Parses -o: %[.][#][WIDTH]LETTER; all other text is literal, and %% is a percent sign. "%all" is
// every column, separated by |. Returns invalid_argument for a % without a letter.
Result<std::vector<FormatItem>> parse_format(std::string_view format);

// Parses -O: NAME[:[.]WIDTH[TEXT]], separated by commas. A column without a width is as wide as its
// widest cell, at least 20.
Result<std::vector<FormatItem>> parse_name_format(std::string_view format);

// The names in list_columns() have at least this width.
inline constexpr std::size_t kLongestListedName = 18;

// Columns do not shrink below this width, nor below that of their header.
inline constexpr std::size_t kNarrowest = 8;

// A column that may become narrower, down to `least`.
struct Shrinkable {
  std::size_t column = 0;
  std::size_t least = 0;
};

// Takes from these columns, the first one first, until all widths together are at most `room`.
void shrink(std::vector<std::size_t>& widths, std::span<const Shrinkable> order, std::size_t room);

// The properties of a column that the layout needs.
struct GridColumn {
  std::string header;
  bool never_cut = false;
  unsigned shrink_order = 0;
  bool is_state = false;
};

// The cells of a listing in one buffer, and their layout.
class Grid {
 public:
  // `columns` has one element for each format item that is a column.
  Grid(std::vector<FormatItem> format_items, std::vector<GridColumn> columns)
      : format_items_(std::move(format_items)), columns_(std::move(columns)) {}

  // Append a cell's text to text(), then end the cell. Control characters are removed, so that a
  // job's name cannot move the terminal's cursor.
  std::string& text() { return text_; }
  void end_cell();
  std::size_t rows() const {
    return columns_.empty() ? bare_rows_ : ends_.size() / columns_.size();
  }
  void end_row() { ++bare_rows_; }

  // Whether rows can be laid out before all are added.
  bool has_fixed_widths() const;

  // Returns the lines, padded and truncated to the column widths, each ending in a newline. Rows
  // are in `order`, or as added. If `terminal` > 0, columns shrink until lines are at most that
  // wide.
  std::string layout(bool with_header, std::optional<std::span<const std::uint32_t>> order = {},
                     unsigned terminal = 0) const;

  // Whether layout() colours states. Widths do not depend on it.
  void colour_states(bool on) { coloured_ = on; }

  // Removes the rows.
  void clear();

  // The same, and later layouts have at least the widths that this one has.
  void clear_and_keep_widths(bool with_header);

 private:
  std::string_view cell(std::size_t row, std::size_t column) const;
  std::vector<std::size_t> widths(bool with_header) const;
  void narrow(std::vector<std::size_t>& widths, unsigned terminal) const;
  std::size_t least_width(std::size_t column) const;

  std::vector<FormatItem> format_items_;
  std::vector<GridColumn> columns_;
  std::string text_;
  std::vector<std::size_t> ends_;  // of the cells, row after row
  std::size_t bare_rows_ = 0;
  bool coloured_ = false;
  std::vector<std::size_t> kept_widths_;  // empty: none
};

// The error for an unknown column of a format or sort key, with a suggestion for a name.
Error unknown_column(const FormatItem& format_item, std::span<const Unsupported> unsupported,
                     std::span<const std::string> names);

bool same_name(std::string_view a, std::string_view b);  // Ignores case.

template <class Row>
Result<const Column<Row>*> find_column(const Columns<Row>& columns, const FormatItem& format_item) {
  std::vector<std::string> names;
  for (const auto& column : columns.supported) {
    if (format_item.letter ? column.letter == format_item.letter
                           : !column.name.empty() && same_name(column.name, format_item.name))
      return &column;
    if (!column.name.empty()) names.emplace_back(column.name);
  }
  return fail(unknown_column(format_item, columns.unsupported, names));
}

// The format with every column in place of an item named "all"; its literal separates them.
template <class Row>
std::vector<FormatItem> with_all_columns(std::vector<FormatItem> format_items,
                                         const Columns<Row>& columns) {
  std::vector<FormatItem> expanded;
  for (FormatItem& format_item : format_items) {
    if (format_item.letter || !same_name(format_item.name, "all")) {
      expanded.push_back(std::move(format_item));
      continue;
    }
    for (const auto& column : columns.supported) {
      expanded.push_back(format_item);
      expanded.back().letter = column.letter;
      expanded.back().name = column.letter ? std::string_view() : column.name;
    }
    if (format_item.width == 0) expanded.back().literal.clear();
  }
  return expanded;
}

// Rows of a listing: columns chosen by a format, their cells, and the layout.
template <class Row>
class Listing {
 public:
  // Returns invalid_argument for a column that does not exist or is not supported. `columns` must
  // outlive the listing.
  static Result<Listing> make(std::vector<FormatItem> format_items, const Columns<Row>& columns) {
    format_items = with_all_columns(std::move(format_items), columns);
    std::vector<const Column<Row>*> chosen;
    std::vector<GridColumn> shapes;
    for (const FormatItem& format_item : format_items) {
      if (!format_item.has_column()) continue;
      const auto found = find_column(columns, format_item);
      if (!found) return fail(found.error());
      chosen.push_back(*found);
      shapes.push_back({std::string((*found)->header), (*found)->never_cut, (*found)->shrink_order,
                        (*found)->is_state});
    }
    return Listing(std::move(chosen), Grid(std::move(format_items), std::move(shapes)));
  }

  const std::vector<const Column<Row>*>& columns() const { return columns_; }
  Grid& grid() { return grid_; }

  void add(const Row& row) {
    for (const auto* column : columns_) {
      column->put(row, grid_.text());
      grid_.end_cell();
    }
    grid_.end_row();
  }

 private:
  Listing(std::vector<const Column<Row>*> columns, Grid grid)
      : columns_(std::move(columns)), grid_(std::move(grid)) {}

  std::vector<const Column<Row>*> columns_;
  Grid grid_;
};

// Adds the fields that a column reads to a sorted list without duplicates.
template <class Row>
void add_needs(const Column<Row>& column, std::vector<std::uint32_t>& fields) {
  for (const std::uint32_t field : column.needs) {
    const auto at = std::lower_bound(fields.begin(), fields.end(), field);
    if (field != 0 && (at == fields.end() || *at != field)) fields.insert(at, field);
  }
}

// One line of help per column, for manual pages.
template <class Row>
std::vector<std::string> describe_columns(const Columns<Row>& columns) {
  std::vector<std::string> lines;
  for (const auto& column : columns.supported) {
    std::string names = column.letter ? std::string("%") + column.letter : "";
    if (!column.name.empty()) names.append(names.empty() ? "" : ", ").append(column.name);
    lines.push_back(names.append("  ").append(column.help));
  }
  return lines;
}

// What --helpformat prints: a line for each column, with its letter, its name and what it is.
template <class Row>
std::string list_columns(const Columns<Row>& columns) {
  std::string out;
  for (const auto& column : columns.supported) {
    const std::string letter = column.letter ? std::string("%") + column.letter : "  ";
    std::string name(column.name);
    name.resize(std::max(name.size(), kLongestListedName), ' ');
    out.append(letter).append("  ").append(name).append("  ").append(column.help).append("\n");
  }
  return out;
}

// "%X (CoreSpec), Network (REASON); Reboot": columns that are refused by name, for manual pages.
std::string describe_unsupported(std::span<const Unsupported> unsupported);

}  // namespace ares::cli
