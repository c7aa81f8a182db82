// Account trees, classic fair share, dominant resource fairness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/fairness/classic.h"
#include "core/fairness/drf.h"
#include "core/fairness/wide.h"
#include "unit/fairness/big.h"
#include "unit/fairness/tree.h"

namespace ares::core::fairness {
namespace {

using testing::HasSubstr;

TEST(Wide, ProductsAndFractionsAreExact) {
  std::mt19937_64 dice(1);
  const auto any = [&] { return (U128{dice()} << 64 | dice()) >> (dice() % 128); };
  const auto big = [](U128 n) {
    Big out;
    for (; n > 0; n >>= 16) out.digits.push_back(static_cast<std::uint32_t>(n & 0xffff));
    return out;
  };
  for (int i = 0; i < 20'000; ++i) {
    const U128 a = any(), b = any() | 1, c = any(), d = any() | 1;
    const int expected = compare_big(big(a) * big(d), big(c) * big(b));
    const auto found = compare_fractions(a, b, c, d);
    ASSERT_EQ(found < 0 ? -1 : found > 0 ? 1 : 0, expected) << i;
  }
  const U128 all = ~U128{0};
  EXPECT_EQ(wide_product(all, all), (U256{all - 1, 1}));
  EXPECT_TRUE(scaled_product(all, all, 64) == all) << "stops at the largest";
  EXPECT_TRUE(scaled_product(U128{3} << 100, U128{5} << 20, 119) == U128{30});
}

TEST(AccountTree, FindsUsersByAccountOrTheFirstOne) {
  const std::vector<AccountRow> rows{account("b", "a", 1), user("ann", "b", 1), account("a", "", 1),
                                     user("ann", "a", 1), user("eve", "", 1)};
  ASSERT_FALSE(problem_of(rows));
  const AccountTree tree(rows);
  EXPECT_EQ(tree.users(), 3u);
  const auto row = [&](const char* in, const char* name) {
    const auto at = tree.find(in, name);
    return at ? static_cast<int>(tree.nodes()[*at].row) : -1;
  };
  EXPECT_EQ(row("a", "ann"), 3);
  EXPECT_EQ(row("b", "ann"), 1);
  EXPECT_EQ(row("", "ann"), 1);
  EXPECT_EQ(row("", "eve"), 4);
  EXPECT_EQ(row("a", "eve"), -1);
  EXPECT_EQ(row("c", "ann"), -1);
}

TEST(AccountTree, ProblemsNameTheRow) {
  const auto said = [](const std::vector<AccountRow>& rows) {
    const auto problem = problem_of(rows);
    return problem ? std::to_string(problem->row) + ": " + problem->text : "";
  };
  EXPECT_EQ(said({account("a", "", 1), account("a", "", 2)}),
            "1: account \"a\" is described a second time");
  EXPECT_EQ(said({account("a", "", 1), user("u", "a", 1), user("u", "a", 1)}),
            "2: user \"u\" is described a second time in account \"a\"");
  EXPECT_EQ(said({account("a", "b", 1)}), "0: there is no account \"b\"");
  EXPECT_EQ(said({user("u", "b", 1)}), "0: there is no account \"b\"");
  EXPECT_THAT(said({account("a", "b", 1), account("b", "c", 1), account("c", "b", 1)}),
              HasSubstr("lies below itself"));
  EXPECT_THAT(said({AccountRow{}}), HasSubstr("name an account"));
  AccountRow used = account("a", "", 1);
  used.usage["cpu"] = 1;
  EXPECT_THAT(said({used}), HasSubstr("usage belongs to users"));
  EXPECT_EQ(said({account("a", "", 1), account("b", "a", 1), user("u", "b", 1)}), "");
}

TEST(AccountTree, SharesAreNormalisedLevelByLevel) {
  const std::vector<AccountRow> rows{account("a", "", 3), account("b", "", 1), user("x", "a", 1),
                                     user("y", "a", 2), user("z", "b", std::nullopt)};
  const AccountTree tree(rows);
  const auto part = normalised_shares(tree);
  const auto of = [&](const char* in, const char* name) {
    return static_cast<double>(part[*tree.find(in, name)]) / std::ldexp(1, 48);
  };
  EXPECT_NEAR(of("a", "x"), 0.25, 1e-14);
  EXPECT_NEAR(of("a", "y"), 0.5, 1e-14);
  EXPECT_NEAR(of("b", "z"), 0.25, 1e-14) << "as much as the parent";
}

struct ClassicCase {
  double usage, share, factor;
};
TEST(Classic, GoldenValues) {
  for (const ClassicCase& c :
       {ClassicCase{.3875, .3, .408479}, ClassicCase{.275, .05, .022097},
        ClassicCase{.15, .05, .125}, ClassicCase{.25, .25, .5}, ClassicCase{.145833, .35, .749154}})
    EXPECT_NEAR(classic_factor(c.usage, c.share), c.factor, 5e-7) << c.usage << " " << c.share;
  EXPECT_EQ(classic_factor(0, 0.1), 1);
  EXPECT_EQ(classic_factor(0, 0), 0) << "without shares the factor is 0";
  EXPECT_EQ(classic_factor(0.2, 0.1, 2), 0.5) << "dampened";
}

// High usage of a branch lowers the factors of its users, by the effective usage.
TEST(Classic, UsageOfTheBranchCounts) {
  const std::vector<AccountRow> rows{account("a", "", 40),    account("b", "", 60),
                                     user("a1", "a", 30, 20), user("a2", "a", 10, 25),
                                     user("b1", "b", 25, 55), user("b2", "b", std::nullopt, 0)};
  const AccountTree tree(rows);
  const auto nodes = classic_fair_share(tree, usage_of(tree, rows), 1);
  const ClassicNode& a1 = nodes[*tree.find("a", "a1")];
  // UA = 20/100; the account's UE is 45/100 + (1 - 45/100) * 40/100.
  EXPECT_NEAR(a1.usage, 0.2, 1e-12);
  EXPECT_NEAR(a1.share, 0.3, 1e-12);
  EXPECT_NEAR(a1.effective_usage, 0.2 + (0.67 - 0.2) * 0.75, 1e-12);
  EXPECT_NEAR(a1.factor, std::exp2(-a1.effective_usage / 0.3), 1e-12);
  const ClassicNode& b2 = nodes[*tree.find("b", "b2")];
  EXPECT_NEAR(b2.share, 0.6, 1e-12) << "as much as the parent";
  EXPECT_NEAR(b2.effective_usage, 0.55 + (1 - 0.55) * 0.6, 1e-12);
}

TEST(Classic, DoesNotDependOnOrderOrUnits) {
  std::mt19937_64 dice(4);
  for (int round = 0; round < 200; ++round) {
    auto rows = random_tree(dice, 1 + dice() % 30);
    const auto factors = [&](std::uint64_t scale) {
      const AccountTree tree(rows);
      const auto nodes = classic_fair_share(tree, usage_of(tree, rows, scale), 1);
      std::map<std::string, double> out;
      for (std::size_t i = 1; i < nodes.size(); ++i)
        if (tree.nodes()[i].user) out[rows[tree.nodes()[i].row].user] = nodes[i].factor;
      return out;
    };
    const auto once = factors(1);
    const auto scaled = factors(4096);
    std::shuffle(rows.begin(), rows.end(), dice);
    EXPECT_EQ(once, factors(1));
    EXPECT_EQ(once, scaled) << "a power of two changes no rounding";
  }
}

TEST(Drf, DominantShareIsTheLargest) {
  // The example of the paper: 9 CPUs, 18 GB; tasks of A take <1, 4>, tasks of B <3, 1>.
  const std::int64_t capacity[] = {9, 18};
  const std::int64_t a[] = {3, 12}, b[] = {6, 2};
  EXPECT_NEAR(dominant_share(a, capacity, 1).value(), 12.0 / 18, 1e-12);
  EXPECT_NEAR(dominant_share(b, capacity, 1).value(), 6.0 / 9, 1e-12);
  EXPECT_EQ(compare(dominant_share(a, capacity, 1), dominant_share(b, capacity, 1)), 0);
  EXPECT_LT(compare(dominant_share(a, capacity, 2), dominant_share(b, capacity, 1)), 0);
  EXPECT_GT(compare(dominant_share(a, capacity, 0), dominant_share(b, capacity, 1)), 0);
  const std::int64_t odd[] = {-5, 0};
  const std::int64_t none[] = {0, 0};
  EXPECT_EQ(dominant_share(odd, capacity, 1).value(), 0);
  EXPECT_EQ(dominant_share(a, none, 1).value(), 0) << "nothing there counts for nothing";
}

TEST(Drf, ProgressiveFillingReproducesTheExampleOfThePaper) {
  const std::int64_t capacity[] = {9, 18};
  const std::int64_t task[2][2] = {{1, 4}, {3, 1}};
  std::int64_t used[2][2] = {}, free[2] = {9, 18};
  int tasks[2] = {};
  ProgressiveFilling filling;
  for (const auto u : {0u, 1u}) filling.add(u, dominant_share(used[u], capacity, 1));
  while (const auto u = filling.next()) {
    if (task[*u][0] > free[0] || task[*u][1] > free[1]) {
      filling.drop();
      continue;
    }
    ++tasks[*u];
    for (int r = 0; r < 2; ++r) free[r] -= task[*u][r], used[*u][r] += task[*u][r];
    filling.serve(dominant_share(used[*u], capacity, 1));
  }
  EXPECT_EQ(tasks[0], 3);
  EXPECT_EQ(tasks[1], 2);
}

// Compared with a search over all users with exact products, for random capacities and weights.
TEST(Drf, LeastServedUserIsNext) {
  std::mt19937_64 dice(5);
  for (int round = 0; round < 200; ++round) {
    const std::size_t users = 1 + dice() % 12;
    std::vector<std::int64_t> capacity(3);
    for (auto& c : capacity) c = static_cast<std::int64_t>(dice() >> (2 + dice() % 60));
    std::vector<std::vector<std::int64_t>> used(users, std::vector<std::int64_t>(3));
    std::vector<std::uint64_t> weight(users);
    for (auto& w : weight) w = dice() % 5 == 0 ? 0 : 1 + (dice() >> (16 + dice() % 48));
    std::vector<bool> in(users, true);
    ProgressiveFilling filling;
    for (std::uint32_t u = 0; u < users; ++u)
      filling.add(u, dominant_share(used[u], capacity, weight[u]));
    const auto less = [&](std::size_t a, std::size_t b) {
      if (weight[a] == 0 || weight[b] == 0)
        return weight[a] != 0 ? true : weight[b] != 0 ? false : a < b;
      const auto share = [&](std::size_t u) {
        std::pair<Big, Big> most{Big(0), Big(1)};
        for (int r = 0; r < 3; ++r) {
          if (capacity[r] <= 0) continue;
          std::pair<Big, Big> here{Big(static_cast<std::uint64_t>(used[u][r])),
                                   Big(static_cast<std::uint64_t>(capacity[r]))};
          if (compare_big(here.first * most.second, most.first * here.second) > 0) most = here;
        }
        most.second = most.second * Big(weight[u]);
        return most;
      };
      const auto x = share(a), y = share(b);
      const int order = compare_big(x.first * y.second, y.first * x.second);
      return order != 0 ? order < 0 : a < b;
    };
    for (int step = 0; step < 60; ++step) {
      std::optional<std::size_t> least;
      for (std::size_t u = 0; u < users; ++u)
        if (in[u] && (!least || less(u, *least))) least = u;
      const auto next = filling.next();
      ASSERT_EQ(next.has_value(), least.has_value());
      if (!next) break;
      ASSERT_EQ(*next, *least) << "round " << round << " step " << step;
      if (dice() % 10 == 0) {
        in[*next] = false;
        filling.drop();
        continue;
      }
      for (auto& amount : used[*next])
        amount += static_cast<std::int64_t>(dice() >> (8 + dice() % 50));
      filling.serve(dominant_share(used[*next], capacity, weight[*next]));
    }
  }
}

}  // namespace
}  // namespace ares::core::fairness
