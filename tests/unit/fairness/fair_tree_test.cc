// Fair Tree: the golden table, and properties of random trees, compared with a slow recursion over exact fractions.
#include "core/fairness/fair_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "unit/fairness/big.h"
#include "unit/fairness/tree.h"

namespace ares::core::fairness {
namespace {

using Ranks = std::map<std::string, std::uint32_t>;

Ranks ranks_of(const std::vector<AccountRow>& rows, std::uint64_t scale = 1) {
  const AccountTree tree(rows);
  const auto ranks = fair_tree(tree, usage_of(tree, rows, scale));
  Ranks by_name;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& node = tree.nodes()[i];
    if (node.user)
      by_name[rows[node.row].user] = ranks[i];
    else
      EXPECT_EQ(ranks[i], 0u);
  }
  return by_name;
}

// The algorithm as published: recursive, with exact fractions, and a sort of every group.
class Reference {
 public:
  explicit Reference(const std::vector<AccountRow>& rows) : rows_(rows) {
    for (const AccountRow& row : rows) left_ += row.user.empty() ? 0 : 1;
  }
  Ranks run() {
    visit(children(""), false);
    return ranks_;
  }

 private:
  struct Entry {
    const AccountRow* row;
    enum Kind { zero, finite, infinite } kind;
    Big top, bottom;
  };
  static int compare(const Entry& a, const Entry& b) {
    if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
    if (a.kind != Entry::finite) return 0;
    return compare_big(a.top * b.bottom, b.top * a.bottom);
  }
  std::uint64_t usage(const std::string& account) const {
    std::uint64_t sum = 0;
    for (const AccountRow& row : rows_) {
      if (!row.user.empty() && row.account == account) sum += row.usage.at("billing");
      if (row.user.empty() && row.parent == account) sum += usage(row.account);
    }
    return sum;
  }
  void gather(const std::string& account, std::vector<const AccountRow*>& out) const {
    for (const AccountRow& row : rows_) {
      if ((row.user.empty() ? row.parent : row.account) != account) continue;
      if (row.user.empty() && !row.shares)
        gather(row.account, out);
      else
        out.push_back(&row);
    }
  }
  std::vector<Entry> children(const std::string& account) const {
    std::vector<const AccountRow*> rows;
    gather(account, rows);
    std::uint64_t sum = 0;
    for (const AccountRow* row : rows) sum += row->shares.value_or(0);
    std::vector<Entry> out;
    for (const AccountRow* row : rows) {
      const std::uint64_t used = row->user.empty() ? usage(row->account) : row->usage.at("billing");
      if (row->shares == 0u)
        out.push_back({row, Entry::zero, {}, {}});
      else if (!row->shares || used == 0)
        out.push_back({row, Entry::infinite, {}, {}});
      else
        out.push_back(
            {row, Entry::finite, Big(*row->shares) * Big(usage(account)), Big(sum) * Big(used)});
    }
    return out;
  }
  void visit(std::vector<Entry> entries, bool tied) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      const int order = compare(a, b);
      return order != 0 ? order > 0 : !a.row->user.empty() && b.row->user.empty();
    });
    for (std::size_t i = 0; i < entries.size();) {
      if (i > 0) tied = compare(entries[i - 1], entries[i]) == 0;
      if (!entries[i].row->user.empty()) {
        if (!tied) rank_ = left_;
        ranks_[entries[i++].row->user] = rank_;
        --left_;
        continue;
      }
      std::vector<Entry> merged;
      const std::size_t first = i;
      for (; i < entries.size() && compare(entries[i], entries[first]) == 0; ++i)
        for (Entry& child : children(entries[i].row->account)) merged.push_back(std::move(child));
      visit(std::move(merged), tied);
    }
  }

  const std::vector<AccountRow>& rows_;
  Ranks ranks_;
  std::uint32_t left_ = 0, rank_ = 0;
};

TEST(FairTree, GoldenTable) {
  std::vector<AccountRow> rows;
  for (const Golden& golden : golden_tree()) rows.push_back(golden.row);
  ASSERT_FALSE(problem_of(rows));
  const Ranks ranks = ranks_of(rows);
  ASSERT_EQ(ranks.size(), 21u);
  for (const Golden& golden : golden_tree()) {
    if (golden.row.user.empty()) continue;
    EXPECT_EQ(ranks.at(golden.row.user), golden.rank) << golden.row.user;
  }
}

TEST(FairTree, EqualFractionsOfDifferentNumbersTie) {
  const std::vector<AccountRow> rows{user("a", "", 40, 20), user("b", "", 50, 25),
                                     user("c", "", 20, 10), user("d", "", 60, 55)};
  const Ranks ranks = ranks_of(rows);
  EXPECT_EQ(ranks.at("a"), 4u);
  EXPECT_EQ(ranks.at("b"), 4u);
  EXPECT_EQ(ranks.at("c"), 4u);
  EXPECT_EQ(ranks.at("d"), 1u);
}

TEST(FairTree, FractionsThatDifferBelowDoublePrecisionDoNotTie) {
  const std::uint64_t much = 1'000'000'000'000'000'000;
  const Ranks ranks = ranks_of({user("more", "", 7, much + 1), user("less", "", 7, much)});
  EXPECT_EQ(ranks.at("less"), 2u);
  EXPECT_EQ(ranks.at("more"), 1u);
}

// Without the merge the children of a1 would all precede those of a2.
TEST(FairTree, TiedAccountsAreMerged) {
  const Ranks ranks =
      ranks_of({account("a1", "", 1), account("a2", "", 1), user("u1", "a1", 1, 1),
                user("v1", "a1", 1, 9), user("u2", "a2", 1, 2), user("v2", "a2", 1, 8)});
  EXPECT_EQ(ranks.at("u1"), 4u);
  EXPECT_EQ(ranks.at("u2"), 3u);
  EXPECT_EQ(ranks.at("v2"), 2u);
  EXPECT_EQ(ranks.at("v1"), 1u);
}

TEST(FairTree, UsersWithoutSharesComeLast) {
  const Ranks ranks = ranks_of({account("rich", "", 9), account("none", "", 0),
                                user("r", "rich", 1, 1'000'000), user("n", "none", 5, 0)});
  EXPECT_GT(ranks.at("r"), ranks.at("n"));
}

TEST(FairTree, EmptyTreeHasNoRanks) {
  const AccountTree tree({});
  EXPECT_EQ(fair_tree(tree, std::vector<std::uint64_t>{0}), std::vector<std::uint32_t>{0});
}

TEST(FairTree, EqualsTheReference) {
  std::mt19937_64 dice(1);
  for (int round = 0; round < 2000; ++round) {
    const auto rows = random_tree(dice, 1 + dice() % 30);
    ASSERT_FALSE(problem_of(rows));
    ASSERT_EQ(ranks_of(rows), Reference(rows).run()) << "round " << round;
  }
}

TEST(FairTree, DoesNotDependOnTheOrderOfRowsOrOnUnits) {
  std::mt19937_64 dice(2);
  for (int round = 0; round < 500; ++round) {
    auto rows = random_tree(dice, 1 + dice() % 40);
    const Ranks once = ranks_of(rows);
    EXPECT_EQ(once, ranks_of(rows, 1'000'003)) << "usage in other units";
    std::shuffle(rows.begin(), rows.end(), dice);
    EXPECT_EQ(once, ranks_of(rows)) << "rows in another order";
    for (AccountRow& row : rows)
      if (row.shares) *row.shares *= 1000;
    EXPECT_EQ(once, ranks_of(rows)) << "shares in other units";
  }
}

TEST(FairTree, WorksForTreesOfAnyDepth) {
  std::vector<AccountRow> rows;
  std::string above;
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = "a" + std::to_string(i);
    rows.push_back(account(name, above, 1));
    rows.push_back(user("u" + std::to_string(i), name, 1, 1));
    above = name;
  }
  ASSERT_FALSE(problem_of(rows));
  const Ranks ranks = ranks_of(rows);
  EXPECT_EQ(ranks.size(), 50'000u);
}

// More usage never raises a user above another with at least the same rank.
TEST(FairTree, MoreUsageNeverImprovesTheRank) {
  std::mt19937_64 dice(3);
  for (int round = 0; round < 300; ++round) {
    auto rows = random_tree(dice, 2 + dice() % 20);
    std::vector<std::size_t> users;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!rows[i].user.empty()) users.push_back(i);
    if (users.empty()) continue;
    AccountRow& mine = rows[users[dice() % users.size()]];
    const Ranks before = ranks_of(rows);
    mine.usage["billing"] += 1 + dice() % 5;
    EXPECT_LE(ranks_of(rows).at(mine.user), before.at(mine.user)) << "round " << round;
  }
}

}  // namespace
}  // namespace ares::core::fairness
