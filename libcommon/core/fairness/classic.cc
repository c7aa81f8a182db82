#include "core/fairness/classic.h"

#include "core/fairness/decay.h"

namespace ares::core::fairness {

double classic_factor(double effective_usage, double share, std::uint32_t dampening) {
  if (!(share > 0)) return 0;
  return half_to_the(effective_usage / share / dampening);
}

std::vector<ClassicNode> classic_fair_share(const AccountTree& tree,
                                            std::span<const std::uint64_t> usage,
                                            std::uint32_t dampening) {
  const auto nodes = tree.nodes();
  std::vector<ClassicNode> out(nodes.size());
  const auto total = static_cast<double>(usage[0]);
  out[0] = {1, total > 0 ? 1.0 : 0.0, total > 0 ? 1.0 : 0.0, 0};
  for (TreeIndex at = 0; at < nodes.size(); ++at) {
    const ClassicNode& above = out[at];
    std::uint64_t shares = 0;
    for (const auto& child : tree.children(nodes[at])) shares += child.shares.value_or(0);
    for (TreeIndex i = nodes[at].first; i < nodes[at].first + nodes[at].count; ++i) {
      ClassicNode& node = out[i];
      node.usage = total > 0 ? static_cast<double>(usage[i]) / total : 0;
      if (!nodes[i].shares) {
        node.share = above.share;
        node.effective_usage = above.effective_usage;
      } else if (shares > 0) {
        const double part = static_cast<double>(*nodes[i].shares) / static_cast<double>(shares);
        node.share = above.share * part;
        node.effective_usage = node.usage + (above.effective_usage - node.usage) * part;
      }
    }
  }
  for (ClassicNode& node : out)
    node.factor = classic_factor(node.effective_usage, node.share, dampening);
  return out;
}

}  // namespace ares::core::fairness
