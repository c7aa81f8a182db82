// Tests: apply_bookkeeping, decide_usage, model/usage
// Usage while records change: wckeys, resets, removed members, corrections; and that a recount of
// the attempts gives the same sums.
#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "core/accounts/account_directory.h"
#include "core/accounts/usage/usage.h"
#include "core/accounts/usage/usage_recount.h"
#include "model/accounts/current_usage.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using std::chrono::hours;
using Verb = AccountingChange::Verb;

Policy shared(Seconds half_life, bool require_wckey = false) {
  Policy policy = Cluster::default_policy();
  auto rules = std::make_shared<Fairness>();
  rules->policy = QueuePolicy::fair_tree;
  rules->half_life = half_life;
  rules->billing_weights = {{"cpu", 1 << kTresWeightBits}, {"gres/gpu", 10 << kTresWeightBits}};
  policy.fairness.value = rules;
  policy.accounting.enforce = Enforce::associations;
  policy.accounting.require_wckey = require_wckey;
  return policy;
}

class UsageLife : public testing::Test {
 protected:
  // Accounts science and, below it, physics with alice and bob; alice's wckeys are sun (her default) and moon.
  explicit UsageLife(Policy policy = shared(Seconds{0})) : c{8, std::move(policy)} {
    Account science, physics;
    science.name = "science";
    science.parent = "root";
    physics.name = "physics";
    physics.parent = "science";
    ChangeAccounting all;
    for (const Account& account : {science, physics})
      all.changes.push_back({Verb::add, account, {}});
    for (const std::string name : {"alice", "bob"}) {
      User user;
      user.name = name;
      if (name == "alice") user.default_wckey = "sun";
      Association member;
      member.key = {"physics", name, {}};
      all.changes.push_back({Verb::add, user, {}});
      all.changes.push_back({Verb::add, member, {}});
    }
    for (const std::string name : {"sun", "moon"}) {
      Wckey wckey;
      wckey.key = {name, "alice"};
      all.changes.push_back({Verb::add, wckey, {}});
    }
    change(all);
  }
  void change(const ChangeAccounting& all) {
    const Reply reply = c.user(kOperator, all);
    ASSERT_FALSE(reply.failed) << reply.error.message;
  }
  template <class R>
  R record(const RecordKey& key) const {
    return std::get<R>(*c.state().accounting.find(key));
  }
  void remove(const AccountingRecord& record) {
    change(ChangeAccounting{{{Verb::remove, record, changed_at(record)}}});
  }
  Association alice() const {
    return record<Association>({RecordKind::association, "physics", "alice", {}});
  }
  Account account(const std::string& name) const {
    return record<Account>({RecordKind::account, name, {}, {}});
  }
  Wckey wckey(const std::string& name) const {
    return record<Wckey>({RecordKind::wckey, name, "alice", {}});
  }
  AssociationId normal() const {
    return usage_id(record<Qos>({RecordKind::qos, std::string(kNormalQos), {}, {}}));
  }
  // CPU-seconds stored for this id, as of now.
  double used(AssociationId id, Seconds half_life = Seconds{0}) const {
    const AssociationUsage* usage = c.state().usage.find(id);
    return usage ? fairness::to_double(
                       all_usage_at(*usage, "cpu", c.now, half_life, counted_from(c.state(), id)))
                 : 0;
  }
  JobKey begin(const std::string& wckey = {}) {
    JobSpec spec = Cluster::spec(kAlice);
    spec.account = "physics";
    spec.wckey = wckey;
    const JobKey key = c.submit(spec);
    c.start(key, {1});
    return key;
  }
  // Runs a job of alice's for this long. Returns the seconds for which it held its CPU.
  double run(Duration length, const std::string& wckey = {}) {
    const JobKey key = begin(wckey);
    return finish(key, length);
  }
  double finish(const JobKey& key, Duration length) {
    const Time from = c.job(key).allocation->at;
    c.now += length;
    c.progress(1, key, AttemptPhase::done);
    return std::chrono::duration<double>(c.now - from).count();
  }

  Cluster c;
};

TEST_F(UsageLife, IsCountedByWckeyAndDefaultWckey) {
  const double sun = run(hours(1)), moon = run(hours(2), "moon");
  EXPECT_NEAR(used(wckey("sun").id), sun, 1e-3);
  EXPECT_NEAR(used(wckey("moon").id), moon, 1e-3);
  EXPECT_NEAR(used(alice().id), sun + moon, 1e-3);
  EXPECT_NEAR(used(normal()), sun + moon, 1e-3);
}

TEST_F(UsageLife, AFractionOfACpuCountsAsThat) {
  Inventory inventory = Cluster::machine();
  inventory.cpu_thousandths = 4000;
  c.register_node(1, {}, inventory);
  JobSpec spec = Cluster::spec(kAlice);
  spec.account = "physics";
  const JobKey key = c.submit(spec);
  PlanGroup group = c.group(key, {1});
  group.starts[0].nodes.change(0, [](NodeShare& share) { share.cpu_thousandths = 250; });
  c.plan({group});
  c.progress(1, key, AttemptPhase::ready);
  c.progress(1, key, AttemptPhase::running);
  EXPECT_EQ(c.job(key).allocation->charged_to.billing, 250u) << "thousandths";
  const double seconds = finish(key, hours(1));
  EXPECT_NEAR(used(alice().id), seconds / 4, 1e-3);
}

TEST_F(UsageLife, UnknownWckeyIsAllowedUnlessRequired) {
  const JobKey key = begin("anything");
  EXPECT_EQ(c.job(key).spec->wckey, "anything");
  finish(key, hours(1));
  EXPECT_EQ(used(wckey("sun").id), 0);
}

TEST(RequiredWckey, MustBeOneOfTheUsers) {
  Cluster c{2, shared(Seconds{0}, true)};
  JobSpec spec = Cluster::spec(kAlice);
  spec.account = "physics";
  Account physics;
  physics.name = "physics";
  physics.parent = "root";
  Association member;
  member.key = {"physics", "alice", {}};
  User user;
  user.name = "alice";
  Wckey moon;
  moon.key = {"moon", "alice"};
  ChangeAccounting all{{{Verb::add, physics, {}},
                        {Verb::add, member, {}},
                        {Verb::add, user, {}},
                        {Verb::add, moon, {}}}};
  ASSERT_FALSE(c.user(kOperator, all).failed);
  EXPECT_THAT(c.try_submit(spec).error.message, testing::HasSubstr("no default wckey"));
  spec.wckey = "sun";
  EXPECT_THAT(c.try_submit(spec).error.message,
              testing::HasSubstr("user alice has no wckey sun; the user's wckeys are moon"));
  spec.wckey = "moon";
  EXPECT_FALSE(c.try_submit(spec).failed);
}

TEST_F(UsageLife, ResetOfAllKeepsOnlyLaterUsage) {
  run(hours(1));
  const JobKey running = begin();
  c.now += hours(3);
  ASSERT_FALSE(c.user(kOperator, ResetUsage{}).failed);
  EXPECT_EQ(used(alice().id), 0);
  EXPECT_EQ(used(normal()), 0);
  EXPECT_EQ(used(wckey("sun").id), 0);
  finish(running, hours(2));
  EXPECT_NEAR(used(alice().id), 7200, 1e-3) << "what ran on is charged from the reset on";
  EXPECT_NEAR(used(normal()), 7200, 1e-3);
}

TEST_F(UsageLife, ResetOfAnAccountAppliesToAllBelowIt) {
  run(hours(1));
  const JobKey running = begin();
  c.now += hours(3);
  ASSERT_FALSE(c.user(kOperator, ResetUsage{{key_of(account("science"))}}).failed);
  EXPECT_EQ(used(alice().id), 0);
  EXPECT_GT(used(normal()), 3599) << "the QOS was not named";
  finish(running, hours(2));
  EXPECT_NEAR(used(alice().id), 7200, 1e-3);
  EXPECT_NEAR(used(normal()), 3600 + 5 * 3600, 60);
}

TEST_F(UsageLife, OnlyOperatorsResetIt) {
  EXPECT_EQ(c.user(kAlice, ResetUsage{}).error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.user(kOperator, ResetUsage{{{RecordKind::account, "none", {}, {}}}}).error.code,
            ErrorCode::not_found);
}

TEST_F(UsageLife, PeriodResetsOnce) {
  run(hours(1));
  const Time began = c.now + Seconds{1};
  c.now += hours(1);
  c.run({UsagePeriod{began}});
  EXPECT_EQ(c.state().usage_since, began);
  const double later = run(hours(1));
  c.run({UsagePeriod{began}});
  EXPECT_NEAR(used(alice().id), later, 1e-3);
}

TEST_F(UsageLife, MissedPeriodBeginsLate) {
  const JobKey over_it = begin();
  c.now += hours(1);
  const Time began = c.now;
  finish(over_it, hours(1));
  c.run({UsagePeriod{began}});
  EXPECT_EQ(used(alice().id), 0);
  c.now += hours(1);
  const double later = run(hours(1));
  EXPECT_NEAR(used(alice().id), later, 1e-3);
}

TEST_F(UsageLife, UsageOfARemovedMemberStaysWithTheAccount) {
  const double first = run(hours(1));
  const JobKey running = begin();
  const Association was = alice();
  remove(was);
  EXPECT_FALSE(c.state().usage.find(was.id));
  EXPECT_NEAR(used(account("physics").id), first, 1e-3);
  const double rest = finish(running, hours(2));
  EXPECT_NEAR(used(account("physics").id), first + rest, 1e-3)
      << "the user was a member when the job began";

  change(ChangeAccounting{{{Verb::add, was, {}}}});
  const double again = run(hours(1));
  EXPECT_NEAR(used(alice().id), again, 1e-3);
  EXPECT_NEAR(used(account("physics").id), first + rest, 1e-3);
}

TEST_F(UsageLife, RunningJobKeepsTheAssociationOfItsStart) {
  const JobKey running = begin();
  Association special;
  special.key = {"physics", "alice", "main"};
  change(ChangeAccounting{{{Verb::add, special, {}}}});
  const double ran = finish(running, hours(1));
  EXPECT_NEAR(used(alice().id), ran, 1e-3);
  EXPECT_EQ(used(account("physics").id), 0);
}

TEST_F(UsageLife, RemovedMemberLeavesUsageSinceTheResetOnly) {
  const JobKey running = begin();
  c.now += hours(3);
  ASSERT_FALSE(c.user(kOperator, ResetUsage{{key_of(alice())}}).failed);
  remove(alice());
  finish(running, hours(2));
  EXPECT_NEAR(used(account("physics").id), 7200, 1e-3);
}

TEST_F(UsageLife, JobStartedBeforeTheAssociationIsNotCharged) {
  const Association was = alice();
  remove(was);
  Policy open = *c.policy;
  open.accounting.enforce = Enforce::none;
  Reconfigure again;
  again.config.hash = 8;
  again.policy = std::make_shared<const Policy>(open);
  c.state().partitions.for_each(
      [&](const std::string&, const Partition& one) { again.config.partitions.push_back(one); });
  c.state().nodes.for_each([&](NodeId, const Node& node) {
    again.config.nodes.emplace_back(node.name, Cluster::machine());
  });
  ASSERT_FALSE(c.user(kRoot, again).failed);
  const JobKey running = begin();
  change(ChangeAccounting{{{Verb::add, was, {}}}});
  finish(running, hours(1));
  EXPECT_EQ(used(alice().id), 0);
  EXPECT_EQ(used(account("physics").id), 0);
}

TEST_F(UsageLife, OutdatedCorrectionIsIgnored) {
  run(hours(1));
  const UsageCorrection more{alice().id, "cpu", {1, 0}, false, c.now};
  c.now += hours(1);
  ASSERT_FALSE(c.user(kOperator, ResetUsage{}).failed);
  ASSERT_FALSE(c.user(kOperator, CorrectUsage{{more}}).failed);
  EXPECT_EQ(used(alice().id), 0);
  const AssociationId gone = alice().id;
  remove(alice());
  UsageCorrection late = more;
  late.at = c.now + Seconds{1};
  ASSERT_FALSE(c.user(kOperator, CorrectUsage{{late}}).failed);
  EXPECT_EQ(used(gone), 0);
}

TEST_F(UsageLife, UsageOfARemovedAccountMovesToItsParent) {
  const double ran = run(hours(1));
  ChangeAccounting all;
  for (const RecordKind kind :
       {RecordKind::association, RecordKind::user, RecordKind::wckey, RecordKind::account})
    c.state().accounting.for_each([&](const RecordKey& key, const AccountingRecord& one) {
      if (key.kind == kind && key.name != kRootAccount && key.name != "science")
        all.changes.push_back({Verb::remove, one, changed_at(one)});
    });
  const AssociationId sun = wckey("sun").id;
  change(all);
  EXPECT_NEAR(used(account("science").id), ran, 1e-3);
  EXPECT_FALSE(c.state().usage.find(sun));
}

class UsageThatDecays : public UsageLife {
 protected:
  UsageThatDecays() : UsageLife(shared(hours(1))) {}
};

TEST_F(UsageThatDecays, UsageOfAQosWithNoDecayStays) {
  Qos qos = record<Qos>({RecordKind::qos, std::string(kNormalQos), {}, {}});
  qos.flags = static_cast<std::uint32_t>(QosFlag::no_decay);
  change(ChangeAccounting{{{Verb::modify, qos, qos.changed}}});
  const double ran = run(hours(10));
  c.now += hours(10);
  EXPECT_NEAR(used(normal()), ran, 1e-2);
  EXPECT_LT(used(alice().id, hours(1)), ran / 1000);
}

// --- recount -----------------------------------------------------------------------------------

class UsageRecountTest : public UsageLife, public testing::WithParamInterface<int> {
 protected:
  static constexpr Seconds kHalfLife{24 * 3600};
  UsageRecountTest() : UsageLife(shared(kHalfLife)) {}

  void note(const JobKey& key) {
    const Job& job = c.job(key);
    PastAttempt past{job.allocation->at,
                     {},
                     {},
                     held_thousandths(c.state(), *job.allocation),
                     job.allocation->charged_to};
    open_[key] = past;
  }
  void over(const JobKey& key, Duration length) {
    finish(key, length);
    open_[key].released = c.now;
    past_.push_back(open_[key]);
  }
  // Removes the account with all its members and adds it again under the same name.
  void make_again(const std::string& name) {
    ChangeAccounting gone, back;
    c.state().accounting.for_each_from(
        {RecordKind::association, name, {}, {}},
        [&](const RecordKey& key, const AccountingRecord& one) {
          if (key.kind != RecordKind::association || key.name != name) return false;
          gone.changes.push_back({Verb::remove, one, changed_at(one)});
          back.changes.push_back({Verb::add, one, {}});
          return true;
        });
    const Account was = account(name);
    gone.changes.push_back({Verb::remove, was, was.changed});
    back.changes.push_back({Verb::add, was, {}});
    change(gone);
    change(back);
    made_again_ = true;
  }
  UsageRecount::Outcome recount() const {
    const Time at = c.now + Seconds{1};
    UsageRecount recount(c.state(), rules_of(*c.policy), at);
    for (const PastAttempt& one : past_) recount.add("physics", one);
    return recount.compare();
  }

  bool made_again_ = false;
  std::map<JobKey, PastAttempt> open_;
  std::vector<PastAttempt> past_;
};

TEST_P(UsageRecountTest, RecountEqualsStoredUsage) {
  Random dice(static_cast<std::uint64_t>(GetParam()));
  std::uint64_t sums = 0;
  for (int step = 0; step < 60; ++step) {
    c.now += Seconds{dice.upto(4000)};
    const auto what = dice.upto(10);
    if (what < 7) {
      const JobKey key = begin(what % 2 ? "moon" : "");
      note(key);
      over(key, Seconds{dice.upto(20'000)});
    } else if (what == 7) {
      const Association was = alice();
      remove(was);
      change(ChangeAccounting{{{Verb::add, was, {}}}});
    } else if (what == 8) {
      const auto whose = dice.upto(3);
      ResetUsage reset;
      if (whose == 0 && made_again_)
        continue;  // a reset of an account above also resets what the removed account left to it
      if (whose == 0) reset.of.push_back(key_of(account("science")));
      if (whose == 3) reset.of.push_back(key_of(alice()));
      if (whose == 1) reset.of.push_back(key_of(wckey("moon")));
      ASSERT_FALSE(c.user(kOperator, reset).failed);
    } else if (what == 9) {
      c.run({UsagePeriod{c.now - Seconds{dice.upto(10'000)}}});
    } else {
      make_again("physics");
    }
    const auto outcome = recount();
    sums += outcome.sums;
    for (const UsageDifference& one : outcome.differences)
      ADD_FAILURE() << "step " << step << ": " << one.whose << ", " << one.tres << ": "
                    << one.stored << " stored, " << one.recounted << " recomputed";
    ASSERT_TRUE(outcome.differences.empty());
  }
  EXPECT_GT(sums, 0u);
}

TEST_P(UsageRecountTest, DifferencesAreCorrected) {
  Random dice(static_cast<std::uint64_t>(GetParam()));
  for (int i = 0; i < 10; ++i) {
    const JobKey key = begin();
    note(key);
    over(key, Seconds{1 + dice.upto(20'000)});
  }
  // One attempt too many is stored, and one too few.
  const JobKey unknown = begin("moon");
  finish(unknown, Seconds{5000});
  past_.erase(past_.begin());
  PastAttempt lost = past_.front();
  lost.released += Seconds{777};
  past_.push_back(lost);
  auto outcome = recount();
  ASSERT_FALSE(outcome.differences.empty());
  ASSERT_FALSE(outcome.corrections.empty());
  c.now += Seconds{dice.upto(3000)};  // time goes on in between
  EXPECT_EQ(c.user(kAlice, CorrectUsage{outcome.corrections}).error.code,
            ErrorCode::permission_denied);
  ASSERT_FALSE(c.user(kOperator, CorrectUsage{outcome.corrections}).failed);
  EXPECT_TRUE(recount().differences.empty());
  const JobKey key = begin();
  note(key);
  over(key, Seconds{100});
  EXPECT_TRUE(recount().differences.empty()) << "and goes on from there";
}

INSTANTIATE_TEST_SUITE_P(Lives, UsageRecountTest, testing::Range(1, 13));

}  // namespace
}  // namespace ares::core
