// One line of the matrix: a device's links, and for a GPU its nearest CPUs.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "core/topology/link.h"
#include "core/topology/matrix/header.h"
#include "core/topology/matrix/text.h"

namespace ares::core::topology {

struct Row {
  std::size_t device = 0;  // position in the header
  std::size_t line = 0;
  std::vector<std::optional<Link>> links;  // by device of the header; none = itself
  std::vector<std::uint32_t> columns;      // column of each link
  std::size_t cpus_column = 0;             // where the CPUs stand; 0 = none
  IntervalSet cpus;
  IntervalSet numa;
  IntervalSet own_numa;
};

// Precondition: the line's first word names `header.devices[device]`. Errors as parse_matrix().
Result<Row> parse_row(const Line& line, const Header& header, std::size_t device);

}  // namespace ares::core::topology
