#include "ainfo/load_columns.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/output/text.h"

namespace ares::ainfo {
namespace {

using Measure = std::optional<std::int64_t> (*)(const api::Node&);

std::optional<std::int64_t> load_of(const api::Node& node) {
  if (!node.has_cpu_load()) return std::nullopt;
  return node.cpu_load();
}

std::optional<std::int64_t> free_mib_of(const api::Node& node) {
  if (!node.has_free_memory()) return std::nullopt;
  return node.free_memory() >> 20;
}

// The minimum that the line's nodes have told, above all others if none has: such lines are sorted last.
std::int64_t least_told(const Row& row, Measure measure) {
  std::int64_t least = INT64_MAX;
  for (const api::Node* node : row.nodes)
    least = std::min(least, measure(*node).value_or(INT64_MAX));
  return least;
}

// That minimum, with a + if others have more or have not told.
void put_least_told(const Row& row, Measure measure, std::string (*text)(std::int64_t),
                    std::string& out) {
  if (row.nodes.empty()) {
    out += "n/a";
    return;
  }
  const std::int64_t least = least_told(row, measure);
  out += least == INT64_MAX ? "N/A" : text(least);
  if (std::any_of(row.nodes.begin(), row.nodes.end(), [&](const api::Node* node) {
        return measure(*node).value_or(INT64_MAX) != least;
      }))
    out += '+';
}

std::string load_text(std::int64_t load) {
  return cli::hundredths_text(static_cast<std::uint64_t>(load));
}

std::string mib_text(std::int64_t mib) {
  return std::to_string(mib);
}

}  // namespace

std::vector<cli::Column<Row>> load_columns() {
  std::vector<cli::Column<Row>> columns = {
      {'O',
       "CPUsLoad",
       "CPU_LOAD",
       "load of each node's machine over the last minute, of jobs or not; N/A where it is not "
       "known, as of nodes that do not answer and of those of Kubernetes",
       [](const Row& row, std::string& out) { put_least_told(row, load_of, load_text, out); },
       {api::Node::kCpuLoadFieldNumber},
       [](const Row& row) { return least_told(row, load_of); }},
      {'e',
       "FreeMem",
       "FREE_MEM",
       "memory in MiB of each node's machine that nothing uses, its page cache neither; N/A as for "
       "the load",
       [](const Row& row, std::string& out) { put_least_told(row, free_mib_of, mib_text, out); },
       {api::Node::kFreeMemoryFieldNumber},
       [](const Row& row) { return least_told(row, free_mib_of); }},
  };
  for (auto& column : columns) column.fold = kLeast;
  return columns;
}

}  // namespace ares::ainfo
