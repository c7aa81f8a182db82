#include "pmi/pmix_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"

namespace ares::pmi {
namespace {

constexpr std::size_t kMostVariables = 1000;
constexpr std::size_t kMostMessage = 1000;

tl::unexpected<Error> wrong(std::string what) {
  return fail(ErrorCode::invalid_argument, "arespmixd sent " + std::move(what));
}

Status check_text(std::string_view text, std::size_t most) {
  if (text.empty() || text.size() > most || !is_utf8(text) || has_control(text))
    return wrong("a text that cannot be shown");
  return {};
}

Status check_rank(std::uint32_t rank, const TaskMap& map) {
  if (rank >= map.size)
    return wrong("rank " + std::to_string(rank) + " of " + std::to_string(map.size));
  return {};
}

struct Check {
  const TaskMap& map;

  Status operator()(const PmixReady& ready) const {
    if (ready.of_local_ranks.size() != map.local_ranks().size())
      return wrong("environments of " + std::to_string(ready.of_local_ranks.size()) + " ranks");
    for (const Environment& environment : ready.of_local_ranks) {
      if (environment.size() > kMostVariables) return wrong("too many variables");
      for (const auto& [name, value] : environment)
        if (!name.starts_with("PMIX_") || name.find('=') != name.npos || has_control(name) ||
            value.find('\0') != value.npos)
          return wrong("variable " + quote(name));
    }
    return {};
  }
  Status operator()(const PmixFailed& failed) const {
    return check_text(failed.message, kMostMessage);
  }
  Status operator()(const PmixFence& fence) const {
    if (fence.nodes.empty() || !std::ranges::is_sorted(fence.nodes) ||
        std::ranges::adjacent_find(fence.nodes) != fence.nodes.end() ||
        fence.nodes.back() >= map.ranks_by_node.size() ||
        !std::ranges::binary_search(fence.nodes, map.this_node))
      return wrong("a fence of wrong nodes");
    // As long as all ranks of the step take.
    return check_text(fence.name, 32 + 12 * std::size_t{map.size});
  }
  Status operator()(const PmixModexRequest& request) const { return check_rank(request.rank, map); }
  Status operator()(const PmixModexData&) const { return {}; }
  Status operator()(const PmixAbort& abort) const {
    if (Status right = check_rank(abort.rank, map); !right) return right;
    return check_text(abort.message, kMostMessage);
  }
};

}  // namespace

Status check(const PmixEvent& event, const TaskMap& map) {
  return std::visit(Check{map}, event);
}

}  // namespace ares::pmi
