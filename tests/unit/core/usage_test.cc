// Usage by association: what an attempt is charged, when it counts, and that it equals what ran.
#include <gmock/gmock.h>

#include <cmath>

#include "core/accounts/account_directory.h"
#include "core/accounts/usage/usage.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using std::chrono::hours;
using Verb = AccountingChange::Verb;

Policy shared(Seconds half_life) {
  Policy policy = Cluster::default_policy();
  auto rules = std::make_shared<Fairness>();
  rules->policy = QueuePolicy::fair_tree;
  rules->half_life = half_life;
  rules->billing_weights = {{"cpu", 1 << kTresWeightBits}, {"gres/gpu", 10 << kTresWeightBits}};
  policy.fairness.value = rules;
  policy.accounting.enforce = Enforce::associations;
  return policy;
}

class UsageTest : public testing::Test {
 protected:
  void found(Cluster& c) {
    Account physics;
    physics.name = "physics";
    physics.parent = "root";
    ChangeAccounting all;
    all.changes.push_back({Verb::add, physics, {}});
    for (const std::string name : {"alice", "bob"}) {
      User user;
      user.name = name;
      user.default_account = "physics";
      Association member;
      member.key = {"physics", name, {}};
      all.changes.push_back({Verb::add, user, {}});
      all.changes.push_back({Verb::add, member, {}});
    }
    const Reply reply = c.user(kOperator, all);
    ASSERT_FALSE(reply.failed) << reply.error.message;
  }
  static double used(const Cluster& c, const std::string& user, const std::string& tres,
                     Time moment, Seconds half_life) {
    const Association* one = find_association(c.state().accounting, "physics", user);
    const AssociationUsage* usage = one ? c.state().usage.find(one->id) : nullptr;
    return usage ? fairness::to_double(
                       usage_at(*usage, tres, moment, half_life, counted_from(c.state(), one->id)))
                 : 0;
  }
  // Runs a job on node 1 for this long; it completes.
  void run(Cluster& c, Duration length) {
    const JobKey key = c.submit(Cluster::spec(kAlice));
    c.start(key, {1});
    c.now += length;
    c.progress(1, key, AttemptPhase::done);
  }
};

TEST_F(UsageTest, WithoutDecayIsWhatRan) {
  Cluster c{4, shared(Seconds{0})};
  found(c);
  const Time begin = c.now;
  run(c, hours(1));
  run(c, hours(2));
  const double seconds = std::chrono::duration<double>(c.now - begin).count();
  const Time later = c.now + hours(1);
  EXPECT_NEAR(used(c, "alice", "cpu", later, Seconds{0}), seconds, 1e-3);
  EXPECT_NEAR(used(c, "alice", "billing", later, Seconds{0}), seconds, 1e-3);
  EXPECT_NEAR(used(c, "alice", "mem", later, Seconds{0}), 100 * seconds, 0.1);
  EXPECT_NEAR(used(c, "alice", "node", later, Seconds{0}), seconds, 1e-3);
  EXPECT_EQ(used(c, "bob", "cpu", later, Seconds{0}), 0);
  EXPECT_EQ(used(c, "alice", "gres/gpu", later, Seconds{0}), 0);
}

TEST_F(UsageTest, HalvesInAHalfLife) {
  const Seconds half_life = hours(10);
  Cluster c{4, shared(half_life)};
  found(c);
  run(c, hours(5));
  const Time at = c.now + Seconds{600};
  const double then = used(c, "alice", "cpu", at, half_life);
  // Accrual over 5 hours with decay: h/ln 2 * (1 - 2^-(5/10)), then decay until `at`.
  const double accrued = 36000 / std::log(2.0) * (1 - std::exp2(-0.5)) * std::exp2(-600.0 / 36000);
  EXPECT_NEAR(then, accrued, accrued * 1e-6);
  EXPECT_NEAR(used(c, "alice", "cpu", at + half_life, half_life), then / 2, then * 1e-9);
}

TEST_F(UsageTest, CountsFromTheNextPeriod) {
  const Seconds half_life = hours(10);
  Cluster c{4, shared(half_life)};
  found(c);
  c.now = Time(c.now.time_since_epoch() / Seconds{300} * Seconds{300} + Seconds{300});
  const Time moment = c.now;
  run(c, Seconds{100});
  EXPECT_EQ(used(c, "alice", "cpu", moment, half_life), 0) << "as of then it was still running";
  EXPECT_GT(used(c, "alice", "cpu", moment + Seconds{300}, half_life), 99);
}

TEST_F(UsageTest, AttemptThatEndedBeforeThePeriodCountsAtOnce) {
  const Seconds half_life = hours(10);
  Cluster c{4, shared(half_life)};
  found(c);
  c.now = Time(c.now.time_since_epoch() / Seconds{300} * Seconds{300} + Seconds{300});
  const JobKey key = c.submit(Cluster::spec(kAlice));
  c.start(key, {1});
  const Time begin = c.job(key).allocation->at;
  c.now += Seconds{299};
  const Time ended = c.now;
  AttemptReport report = c.report(key, AttemptPhase::done);
  report.ended_at = ended;
  c.now += Seconds{21};  // the node reports it in the next period
  c.from_node(1, Progress{report});
  ASSERT_TRUE(is_terminal(c.job(key).state));
  const Time moment(c.now.time_since_epoch() / Seconds{300} * Seconds{300});
  ASSERT_GE(moment, ended);
  const double ran = std::chrono::duration<double>(c.now - begin).count();
  EXPECT_NEAR(used(c, "alice", "cpu", moment, half_life), ran, ran * 0.01);
}

TEST_F(UsageTest, UserWithoutAssociationIsNotCharged) {
  Cluster c{4, [] {
              Policy policy = shared(Seconds{0});
              policy.accounting.enforce = Enforce::none;
              return policy;
            }()};
  found(c);
  JobSpec spec = Cluster::spec(kAlice);
  spec.account = "elsewhere";
  const JobKey key = c.submit(spec);
  c.start(key, {1});
  c.now += hours(1);
  c.progress(1, key, AttemptPhase::done);
  EXPECT_TRUE(c.state().usage.empty());
}

}  // namespace
}  // namespace ares::core
