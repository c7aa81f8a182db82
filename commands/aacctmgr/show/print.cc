// Prints listings as text: in columns, or with | between the fields.
#include <algorithm>
#include <cstdlib>

#include "aacctmgr/show/rows.h"
#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/output/width.h"

namespace ares::aacctmgr {
namespace {

using cli::display_width;

using Cells = std::vector<std::string>;

std::vector<Cells> cells_of(const std::vector<Row>& rows,
                            const std::vector<SelectedField>& chosen) {
  std::vector<Cells> lines;
  lines.reserve(rows.size());
  for (const Row& row : rows) {
    Cells& line = lines.emplace_back();
    for (const SelectedField& one : chosen) line.push_back(printable(one.field->text(row)));
  }
  return lines;
}

std::string delimited(const std::vector<Cells>& lines, bool behind_last) {
  std::string out;
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      out.append(i ? "|" : "").append(cli::delimited_cell(line[i], "|"));
    out += behind_last ? "|\n" : "\n";
  }
  return out;
}

void put(std::string cell, std::size_t width, bool left, bool last, std::string& out) {
  if (display_width(cell) > width) cell = std::string(cli::head_of_width(cell, width - 1)) + "+";
  const std::size_t shown = display_width(cell);
  if (!left) out.append(width - shown, ' ');
  out += cell;
  if (left && !last) out.append(width - shown, ' ');
}

}  // namespace

std::string print(const std::vector<Row>& rows, const std::vector<SelectedField>& chosen,
                  const PrintOptions& options) {
  std::vector<Cells> lines = cells_of(rows, chosen);
  const bool plain = options.parsable || options.parsable2;
  Cells headers;
  for (const SelectedField& one : chosen)
    headers.push_back(plain ? one.field->name : one.field->header);
  if (plain) {
    if (!options.no_header) lines.insert(lines.begin(), headers);
    return delimited(lines, options.parsable);
  }

  // An indented column is aligned to the left.
  const bool tree =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.indent > 0; });
  std::vector<std::size_t> widths;
  std::vector<bool> left;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::size_t width = static_cast<std::size_t>(std::abs(chosen[i].width));
    if (!chosen[i].fixed) {
      if (!options.no_header) width = std::max(width, headers[i].size());
      for (const Cells& line : lines) width = std::max(width, display_width(line[i]));
    }
    widths.push_back(width);
    left.push_back(chosen[i].width < 0 || (tree && chosen[i].field->name == "Account"));
  }
  std::string out;
  const auto add = [&](const Cells& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) out += ' ';
      put(line[i], widths[i], left[i], i + 1 == line.size(), out);
    }
    out += '\n';
  };
  if (!options.no_header) {
    add(headers);
    for (std::size_t i = 0; i < widths.size(); ++i)
      out.append(i ? 1 : 0, ' ').append(widths[i], '-');
    out += '\n';
  }
  for (const Cells& line : lines) add(line);
  return out;
}

}  // namespace ares::aacctmgr
