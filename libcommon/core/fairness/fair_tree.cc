#include "core/fairness/fair_tree.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <utility>

#include "core/fairness/wide.h"

namespace ares::core::fairness {
namespace {

// Sums over the children of one parent.
struct Family {
  std::uint64_t shares = 0;  // of all children
  std::uint64_t used = 0;    // usage of the parent
};

// An entry in a sorted list of siblings: the approximate S/U of a node.
struct Level {
  double about = 0;  // relative error 2^-49: decides most comparisons
  TreeIndex node = 0;
  std::uint32_t family = 0;
};

// S/U exactly. 1/0 is infinity, above all numbers; it is never passed to compare_fractions.
struct Fraction {
  U128 numerator = 0;
  U128 denominator = 1;
  bool infinite() const { return denominator == 0; }
};

Fraction exactly(const AccountTree::Node& node, std::uint64_t used, const Family& family) {
  if (node.shares == 0u) return {};
  if (!node.shares || used == 0) return {1, 0};
  return {U128{*node.shares} * family.used, U128{family.shares} * used};
}

double about(const AccountTree::Node& node, std::uint64_t used, const Family& family) {
  if (node.shares == 0u) return 0;
  if (!node.shares || used == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(*node.shares) * static_cast<double>(family.used) /
         (static_cast<double>(family.shares) * static_cast<double>(used));
}

class Walk {
 public:
  Walk(const AccountTree& tree, std::span<const std::uint64_t> usage)
      : tree_(tree), usage_(usage), ranks_(tree.nodes().size()) {
    next_ = rank_ = tree.users();
  }

  std::vector<std::uint32_t> run() {
    List top;
    add_children(0, top);
    push(std::move(top));
    while (!lists_.empty()) step();
    return std::move(ranks_);
  }

 private:
  // Sorted siblings and the walk's position. The stack is explicit: trees may have any depth.
  struct List {
    std::vector<Level> levels;
    std::vector<Family> families;
    std::size_t at = 0;
    bool tied = false;  // the next one ties with the user ranked before
  };

  void push(List list) {
    std::sort(list.levels.begin(), list.levels.end(),
              [&](const Level& a, const Level& b) { return before(a, b, list.families); });
    lists_.push_back(std::move(list));
  }

  Fraction exactly(const Level& level, const std::vector<Family>& families) const {
    return fairness::exactly(tree_.nodes()[level.node], usage_[level.node], families[level.family]);
  }

  std::strong_ordering compare(const Level& a, const Level& b,
                               const std::vector<Family>& families) const {
    constexpr double kAlmost = 1 - 1e-12;
    if (a.about < b.about * kAlmost) return std::strong_ordering::less;
    if (b.about < a.about * kAlmost) return std::strong_ordering::greater;
    const Fraction x = exactly(a, families), y = exactly(b, families);
    if (x.infinite() || y.infinite()) return x.infinite() <=> y.infinite();
    return compare_fractions(x.numerator, x.denominator, y.numerator, y.denominator);
  }

  // Descending; on ties users before accounts, then by node. Ties get the same rank, so the last
  // criterion only makes the walk deterministic.
  bool before(const Level& a, const Level& b, const std::vector<Family>& families) const {
    const auto order = compare(a, b, families);
    if (order != 0) return order > 0;
    const bool user = tree_.nodes()[a.node].user;
    return user != tree_.nodes()[b.node].user ? user : a.node < b.node;
  }

  // rank = left = number of users
  // visit(siblings, tied): by level, descending; users before accounts on ties
  //   for each: unless it is the first, tied = it ties with the one before
  //     user: unless tied, rank = left; its rank is `rank`; left -= 1
  //     accounts that tie: visit(all their children, tied)     the first child inherits `tied`
  void step() {
    List& list = lists_.back();
    if (list.at == list.levels.size()) {
      lists_.pop_back();
      return;
    }
    const Level& first = list.levels[list.at];
    if (list.at > 0) list.tied = compare(list.levels[list.at - 1], first, list.families) == 0;
    if (tree_.nodes()[first.node].user) {
      if (!list.tied) rank_ = next_;
      ranks_[first.node] = rank_;
      --next_;
      ++list.at;
      return;
    }
    List merged;
    merged.tied = list.tied;
    std::size_t end = list.at;
    while (end < list.levels.size() && compare(list.levels[end], first, list.families) == 0)
      add_children(list.levels[end++].node, merged);
    list.at = end;
    push(std::move(merged));  // invalidates `list` and `first`
  }

  // Adds children and level fair shares. Fairshare=parent accounts are replaced by children.
  void add_children(TreeIndex parent, List& out) {
    const auto nodes = tree_.nodes();
    siblings_.clear();
    std::vector<TreeIndex> open{parent};
    Family family{0, usage_[parent]};
    while (!open.empty()) {
      const auto& above = nodes[open.back()];
      open.pop_back();
      for (TreeIndex i = above.first; i < above.first + above.count; ++i) {
        if (!nodes[i].user && !nodes[i].shares) {
          open.push_back(i);
          continue;
        }
        siblings_.push_back(i);
        family.shares += nodes[i].shares.value_or(0);
      }
    }
    const auto which = static_cast<std::uint32_t>(out.families.size());
    out.families.push_back(family);
    for (const TreeIndex i : siblings_)
      out.levels.push_back({about(nodes[i], usage_[i], family), i, which});
  }

  const AccountTree& tree_;
  std::span<const std::uint64_t> usage_;
  std::vector<std::uint32_t> ranks_;
  std::vector<List> lists_;
  std::vector<TreeIndex> siblings_;  // scratch space of add_children()
  std::uint32_t next_ = 0;           // rank of the next user that does not tie
  std::uint32_t rank_ = 0;           // rank of the last ranked user
};

}  // namespace

std::vector<std::uint32_t> fair_tree(const AccountTree& tree,
                                     std::span<const std::uint64_t> usage) {
  return Walk(tree, usage).run();
}

}  // namespace ares::core::fairness
