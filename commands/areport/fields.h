// The fields of areport's lines, one row each: name, help and what they show.
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "areport/lines.h"
#include "areport/report_table.h"
#include "areport/units.h"
#include "base/result.h"

namespace ares::areport {

// What a cell needs beside its line.
struct Setting {
  std::string cluster;
  const Unit* unit = nullptr;
  bool tree = false;  // accounts are indented by their depth
};

struct Field {
  std::string name;
  std::string key;  // in JSON
  std::string help;
  bool left = false;
  std::function<Cell(const Line&, const Setting&)> cell;
};

const std::vector<Field>& fields();

// The field for one range of job sizes: TRES-seconds, or the number of jobs.
Field size_field(const std::vector<std::uint64_t>& sizes, std::size_t at, bool jobs);

struct SelectedField {
  Field field;
  int width = 0;  // 0 = as wide as its content; negative: aligned to the left
};

// Parses "Account%20,Used%-10", in any case or abbreviated. Sizes becomes one field per range.
Result<std::vector<SelectedField>> parse_fields(const std::string& list,
                                                const std::vector<std::uint64_t>& sizes, bool jobs);

}  // namespace ares::areport
