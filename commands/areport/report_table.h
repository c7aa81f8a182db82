// A table that is printed: aligned, with delimiters, as CSV, JSON or YAML.
// Owned by areport's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ares::areport {

struct TableColumn {
  std::string header;  // "PLND Down"; in JSON planned_down comes from `key`
  std::string key;
  bool left = false;
  int width = 0;  // 0 = as wide as its content; negative: aligned to the left
};

// The text that is shown, and the value in JSON.
struct Cell {
  std::string text;
  std::variant<std::string, std::int64_t> value;
};

enum class Layout { aligned, parsable, parsable2, csv, json, yaml };

struct ReportTable {
  std::vector<std::string> heading;  // lines above an aligned table
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>>
      facts;  // beside the rows in JSON
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
};

std::string print(const ReportTable& report_table, Layout layout, bool header,
                  const std::string& delimiter = "|");

}  // namespace ares::areport
