#include "core/topology/link.h"

#include <array>
#include <charconv>

namespace ares::core::topology {
namespace {

struct PathRow {
  std::string_view code;
  Path path;
  std::int64_t gb_per_s;
};

// In the order of Path. The last row, "SOC", is the name of SYS in old drivers.
constexpr std::array<PathRow, 6> kPaths = {{{"PIX", Path::pix, 13},
                                            {"PXB", Path::pxb, 12},
                                            {"PHB", Path::phb, 10},
                                            {"NODE", Path::node, 8},
                                            {"SYS", Path::sys, 6},
                                            {"SOC", Path::sys, 6}}};
constexpr std::int64_t kNvlink = 25;

const PathRow& row(Path path) {
  return kPaths[static_cast<std::size_t>(path)];
}

}  // namespace

std::string_view format_path(Path path) {
  return row(path).code;
}

std::string format_link(Link link) {
  return link.nvlinks > 0 ? "NV" + std::to_string(link.nvlinks)
                          : std::string(format_path(link.path));
}

Bandwidth bandwidth(Link link) {
  return {link.nvlinks > 0 ? kNvlink * link.nvlinks : row(link.path).gb_per_s};
}

std::optional<Cell> take_cell(std::string_view& text) {
  for (const PathRow& one : kPaths) {
    if (!text.starts_with(one.code)) continue;
    text.remove_prefix(one.code.size());
    return Cell{Link{0, one.path}};
  }
  if (text.starts_with("NV")) {
    unsigned count = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), count);
    if (error != std::errc{} || count == 0 || count > kMaxNvlinks) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return Cell{Link{static_cast<std::uint8_t>(count), Path::sys}};
  }
  if (!text.starts_with('X')) return std::nullopt;
  text.remove_prefix(1);
  return Cell{};
}

}  // namespace ares::core::topology
