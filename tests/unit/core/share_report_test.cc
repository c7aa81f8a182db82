// The report of ashare: the tree in its order, fractions of shares and usage, and factors of the policy.
#include <gmock/gmock.h>

#include "core/accounts/usage/share_report.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

Policy with_tree(bool classic) {
  Policy policy = Cluster::default_policy();
  Fairness rules;
  rules.flags.no_fair_tree = classic;
  rules.tree = {{"physics", "", "", 30, 0, {}},
                {"chemistry", "", "", 10, 0, {}},
                {"physics", "", "alice", 1, 0, {{"billing", 600}}},
                {"physics", "", "bob", 3, 0, {{"billing", 200}}},
                {"chemistry", "", "carol", std::nullopt, 0, {{"billing", 200}}}};
  policy.fairness.value = std::make_shared<const Fairness>(rules);
  return policy;
}

const ShareLine& line_of(const std::vector<ShareLine>& lines, const std::string& account,
                         const std::string& user) {
  for (const ShareLine& line : lines)
    if (line.account == account && line.user == user) return line;
  ADD_FAILURE() << "no line of " << account << " " << user;
  static const ShareLine none;
  return none;
}

TEST(ShareReport, HasTheTreeWithItsFractions) {
  const auto lines = share_report(ClusterState{}, with_tree(false), Time{});
  std::vector<std::string> order;
  for (const ShareLine& line : lines)
    order.push_back(std::string(line.depth, '.') + (line.user.empty() ? line.account : line.user));
  EXPECT_THAT(
      order, testing::ElementsAre("root", ".physics", "..alice", "..bob", ".chemistry", "..carol"));
  const ShareLine& physics = line_of(lines, "physics", "");
  EXPECT_NEAR(physics.norm_shares, 0.75, 1e-9);
  EXPECT_NEAR(physics.usage, 800, 1e-2);
  EXPECT_NEAR(physics.norm_usage, 0.8, 1e-6);
  ASSERT_TRUE(physics.level);
  EXPECT_NEAR(*physics.level, 0.75 / 0.8, 1e-6);
  EXPECT_FALSE(physics.factor) << "accounts have none";
  const ShareLine& alice = line_of(lines, "physics", "alice");
  EXPECT_NEAR(alice.effective_usage, 0.75, 1e-6) << "of the account's";
  EXPECT_NEAR(*alice.level, 0.25 / 0.75, 1e-6);
  EXPECT_TRUE(line_of(lines, "chemistry", "carol").endless) << "as much as the parent";
  // chemistry has level 0.25/0.2 and comes first; then physics, with 3 for bob and 1/3 for alice.
  EXPECT_DOUBLE_EQ(*line_of(lines, "chemistry", "carol").factor, 1.0);
  EXPECT_DOUBLE_EQ(*line_of(lines, "physics", "bob").factor, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*alice.factor, 1.0 / 3);
}

TEST(ShareReport, ClassicFactorsFollowTheFormula) {
  const auto lines = share_report(ClusterState{}, with_tree(true), Time{});
  const ShareLine& bob = line_of(lines, "physics", "bob");
  // Its account: UE = 0.8 + (1 - 0.8) * 3/4 = 0.95. UA 0.2, 3 of 4 shares: UE = 0.2 + 0.75 * 3/4; S = 0.75 * 3/4.
  EXPECT_NEAR(bob.effective_usage, 0.7625, 1e-6);
  EXPECT_NEAR(*bob.factor, std::exp2(-0.7625 / 0.5625), 1e-6);
  EXPECT_FALSE(bob.level);
}

TEST(ShareReport, CountsRunningJobsAndChargedUsage) {
  Policy policy = Cluster::default_policy();
  auto rules = std::make_shared<Fairness>();
  rules->half_life = Seconds{0};
  policy.fairness.value = rules;
  Cluster c{4, policy};
  Account physics;
  physics.name = "physics";
  physics.parent = "root";
  User alice;
  alice.name = "alice";
  alice.default_account = "physics";
  Association member;
  member.key = {"physics", "alice", {}};
  using Verb = AccountingChange::Verb;
  ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{Verb::add, physics, {}},
                                                   {Verb::add, alice, {}},
                                                   {Verb::add, member, {}}}})
                   .failed);
  const auto usage = [&] {
    return line_of(share_report(c.state(), policy, c.now), "physics", "alice").usage;
  };
  const JobKey first = c.submit(Cluster::spec());
  c.start(first, {1});
  c.now += Seconds{100};
  EXPECT_NEAR(usage(), 100, 0.01) << "while it runs";
  c.progress(1, first, AttemptPhase::done);
  EXPECT_NEAR(usage(), 100, 0.01) << "not twice once it has ended";
  const JobKey second = c.submit(Cluster::spec());
  c.start(second, {2});
  c.now += Seconds{50};
  EXPECT_NEAR(usage(), 150, 0.01);

  // Usage of a removed user stays with the account.
  c.progress(2, second, AttemptPhase::done);
  const auto removal = [&](const AccountingRecord& like) {
    const AccountingRecord& now = *c.state().accounting.find(key_of(like));
    return AccountingChange{Verb::remove, now, changed_at(now)};
  };
  ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{removal(member), removal(alice)}}).failed);
  const auto of_account = [&] {
    return line_of(share_report(c.state(), policy, c.now), "physics", "").usage;
  };
  EXPECT_NEAR(of_account(), 150, 0.01);
  ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{removal(physics)}}}).failed);
  EXPECT_NEAR(line_of(share_report(c.state(), policy, c.now), "root", "").usage, 150, 0.01);
}

}  // namespace
}  // namespace ares::core
