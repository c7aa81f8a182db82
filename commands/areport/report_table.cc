#include "areport/report_table.h"

#include <algorithm>
#include <cstdlib>

#include "base/printable.h"
#include "cli/output/json.h"
#include "cli/output/text.h"
#include "cli/output/width.h"
#include "cli/output/yaml.h"

namespace ares::areport {
namespace {

using cli::display_width;

// The first `width` columns, with a + at the end if some are missing.
std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width || width == 0) return text;
  return std::string(cli::head_of_width(text, width - 1)) + "+";
}

std::string aligned(const ReportTable& report_table, bool header) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < report_table.columns.size(); ++i) {
    const TableColumn& column = report_table.columns[i];
    std::size_t width = static_cast<std::size_t>(std::abs(column.width));
    if (width == 0) {
      width = header ? display_width(column.header) : 1;
      for (const auto& row : report_table.rows) width = std::max(width, display_width(row[i].text));
    }
    widths.push_back(width);
  }
  const auto line = [&](auto&& text_of) {
    std::string out;
    for (std::size_t i = 0; i < report_table.columns.size(); ++i) {
      const TableColumn& column = report_table.columns[i];
      const std::string text = cut(text_of(i), widths[i]);
      const std::string pad(widths[i] - std::min(widths[i], display_width(text)), ' ');
      const bool left = column.width ? column.width < 0 : column.left;
      if (i > 0) out += ' ';
      out += left ? text + pad : pad + text;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out;
  if (header) {
    const std::string rule(80, '-');
    out += rule + "\n";
    for (const std::string& text : report_table.heading) out += text + "\n";
    out += rule + "\n";
    out += line([&](std::size_t i) { return report_table.columns[i].header; });
    out += line([&](std::size_t i) { return std::string(widths[i], '-'); });
  }
  for (const auto& row : report_table.rows) out += line([&](std::size_t i) { return row[i].text; });
  return out;
}

// RFC 4180: quotes around a cell that contains a comma, a quote or a line end.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string delimited(const ReportTable& report_table, Layout layout, bool header,
                      const std::string& delimiter) {
  const bool csv = layout == Layout::csv;
  const auto line = [&](auto&& text_of) {
    std::string out;
    for (std::size_t i = 0; i < report_table.columns.size(); ++i) {
      if (i > 0) out += csv ? "," : delimiter;
      out += csv ? csv_cell(text_of(i)) : cli::delimited_cell(text_of(i), delimiter);
    }
    return out + (layout == Layout::parsable ? delimiter : "") + "\n";
  };
  std::string out;
  if (header) out += line([&](std::size_t i) { return report_table.columns[i].header; });
  for (const auto& row : report_table.rows) out += line([&](std::size_t i) { return row[i].text; });
  return out;
}

void put_value(const std::variant<std::string, std::int64_t>& value, std::string& out) {
  if (const auto* text = std::get_if<std::string>(&value))
    cli::put_json_text(*text, out);
  else
    out += std::to_string(std::get<std::int64_t>(value));
}

std::string json(const ReportTable& report_table) {
  std::string out = "{\n";
  for (const auto& [key, value] : report_table.facts) {
    out += "  " + quote(key) + ": ";
    put_value(value, out);
    out += ",\n";
  }
  out += "  \"rows\": [";
  for (std::size_t at = 0; at < report_table.rows.size(); ++at) {
    out += at ? ",\n    {" : "\n    {";
    for (std::size_t i = 0; i < report_table.columns.size(); ++i) {
      out += (i ? ", \"" : "\"") + report_table.columns[i].key + "\": ";
      put_value(report_table.rows[at][i].value, out);
    }
    out += "}";
  }
  return out + (report_table.rows.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace

std::string print(const ReportTable& report_table, Layout layout, bool header,
                  const std::string& delimiter) {
  switch (layout) {
    case Layout::aligned: return aligned(report_table, header);
    case Layout::json: return json(report_table);
    case Layout::yaml: return cli::to_yaml(json(report_table));
    default: return delimited(report_table, layout, header, delimiter);
  }
}

}  // namespace ares::areport
