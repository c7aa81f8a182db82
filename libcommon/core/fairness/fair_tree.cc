#include "core/fairness/fair_tree.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "core/fairness/wide.h"

namespace ares::core::fairness {
namespace {

// S/U as a fraction. Infinity is 1/0, and above every number; it never meets compare_fractions.
struct Level {
  U128 numerator = 0;
  U128 denominator = 1;
  double about = 0;  // the same to a relative 2^-50: settles most comparisons
  TreeIndex node = 0;
  bool user = false;

  bool infinite() const { return denominator == 0; }
};

Level make_level(const AccountTree::Node& node, TreeIndex index, std::uint64_t siblings,
                 std::uint64_t used, std::uint64_t used_above) {
  Level level;
  level.node = index;
  level.user = node.user;
  if (node.shares == 0u) return level;
  if (!node.shares || used == 0) {
    level.denominator = 0;
    return level;
  }
  level.numerator = U128{*node.shares} * used_above;
  level.denominator = U128{siblings} * used;
  level.about = static_cast<double>(level.numerator) / static_cast<double>(level.denominator);
  return level;
}

std::strong_ordering compare(const Level& a, const Level& b) {
  if (a.infinite() || b.infinite()) return a.infinite() <=> b.infinite();
  constexpr double kAlmost = 1 - 1e-12;
  if (a.about < b.about * kAlmost) return std::strong_ordering::less;
  if (b.about < a.about * kAlmost) return std::strong_ordering::greater;
  return compare_fractions(a.numerator, a.denominator, b.numerator, b.denominator);
}

// Descending; on ties users before accounts, then as the tree has them: whoever ties gets the same rank, so that the last
// changes nothing but makes the walk the same every time.
bool before(const Level& a, const Level& b) {
  const auto order = compare(a, b);
  if (order != 0) return order > 0;
  return a.user != b.user ? a.user : a.node < b.node;
}

class Walk {
 public:
  Walk(const AccountTree& tree, std::span<const std::uint64_t> usage)
      : tree_(tree), usage_(usage), ranks_(tree.nodes().size()) {
    next_ = rank_ = tree.users();
  }

  std::vector<std::uint32_t> run() {
    std::vector<Level> top;
    add_children(0, top);
    push(std::move(top), false);
    while (!lists_.empty()) step();
    return std::move(ranks_);
  }

 private:
  // Siblings in their order, and how far the walk has come. A stack of its own: trees may be of any depth.
  struct List {
    std::vector<Level> levels;
    std::size_t at = 0;
    bool tied = false;  // the next one ties with who was ranked before
  };

  void push(std::vector<Level> levels, bool tied) {
    std::sort(levels.begin(), levels.end(), before);
    lists_.push_back({std::move(levels), 0, tied});
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
    if (list.at > 0) list.tied = compare(list.levels[list.at - 1], first) == 0;
    if (first.user) {
      if (!list.tied) rank_ = next_;
      ranks_[first.node] = rank_;
      --next_;
      ++list.at;
      return;
    }
    std::vector<Level> merged;
    std::size_t end = list.at;
    for (; end < list.levels.size() && compare(list.levels[end], first) == 0; ++end)
      add_children(list.levels[end].node, merged);
    const bool tied = list.tied;
    list.at = end;
    push(std::move(merged), tied);  // `list` and `first` are gone
  }

  // Each child's level within this parent. Accounts that have as much as their parent give way to their children.
  void add_children(TreeIndex parent, std::vector<Level>& out) {
    const auto nodes = tree_.nodes();
    siblings_.clear();
    std::vector<TreeIndex> open{parent};
    std::uint64_t shares = 0;
    while (!open.empty()) {
      const auto& above = nodes[open.back()];
      open.pop_back();
      for (TreeIndex i = above.first; i < above.first + above.count; ++i) {
        if (!nodes[i].user && !nodes[i].shares) {
          open.push_back(i);
          continue;
        }
        siblings_.push_back(i);
        shares += nodes[i].shares.value_or(0);
      }
    }
    for (const TreeIndex i : siblings_)
      out.push_back(make_level(nodes[i], i, shares, usage_[i], usage_[parent]));
  }

  const AccountTree& tree_;
  std::span<const std::uint64_t> usage_;
  std::vector<std::uint32_t> ranks_;
  std::vector<List> lists_;
  std::vector<TreeIndex> siblings_;  // of one call
  std::uint32_t next_ = 0;           // rank of the next user who does not tie
  std::uint32_t rank_ = 0;           // of the last user ranked
};

}  // namespace

std::vector<std::uint32_t> fair_tree(const AccountTree& tree,
                                     std::span<const std::uint64_t> usage) {
  return Walk(tree, usage).run();
}

}  // namespace ares::core::fairness
