// Tests: ranking, running_use, service_order
// Under every queue policy a planner with kept state plans the same as a new one, and the plan does
// not depend on the order in which records were made or partitions and users are stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/accounts/usage/usage.h"
#include "core/sched/pass/plan_text.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class Life {
 public:
  explicit Life(std::uint64_t seed, bool may_keep_records = false) : engine_(seed) {
    for (std::uint32_t i = 1; i <= 2 + upto(3); ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster.add_node(name, 2 + upto(6), Bytes::mib(4000));
      if (chance(50)) cluster.add_gpus(name, chance(50) ? "a100" : "h100", 1 + upto(3));
    }
    Partition side = cluster.partition();
    side.name = "side";
    side.is_default = false;
    side.tier = static_cast<std::int32_t>(upto(1));
    side.priority = upto(5);
    cluster.put(side);
    cluster.policy.fairness.value = random_rules();
    if (may_keep_records && chance(50)) keep_records();
  }

  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(engine_() % (most + 1));
  }
  bool chance(std::uint32_t percent) { return upto(99) < percent; }

  std::shared_ptr<const Fairness> random_rules() {
    Fairness made;
    made.policy = static_cast<QueuePolicy>(upto(4));
    if (chance(50)) made.partitions["side"] = static_cast<QueuePolicy>(upto(4));
    made.calc_period = chance(50) ? Seconds(60) : Seconds(300);
    made.half_life = chance(80) ? Seconds(3600) : Seconds(0);
    made.max_age = Seconds(7200);
    made.weights = {upto(1000), upto(1000), upto(1000), upto(1000), upto(1000), upto(1000)};
    if (chance(50)) made.tres_weights = {{"cpu", upto(1000)}, {"gres/gpu", upto(1000)}};
    made.qos = {{"high", 10}};
    made.flags.no_fair_tree = chance(30);
    made.flags.favor_small = chance(30);
    made.billing = static_cast<BillingMode>(upto(2));
    made.billing_weights["gres/gpu"] = 4 << kTresWeightBits;
    made.drf_usage = chance(50) ? DrfUsage::running : DrfUsage::delivered;
    if (chance(20)) return std::make_shared<const Fairness>(made);
    made.tree = {{"x", "", "", 1 + upto(2), 0, {}}, {"y", "", "", 1 + upto(2), 0, {}}};
    for (const char* in : {"x", "y", ""})
      for (const char* user : {"a", "b", "c"}) {
        if (chance(30)) continue;
        made.tree.push_back({in, "", user, upto(2), upto(9), {{"cpu", upto(3) * 1000}}});
        if (chance(10)) made.tree.back().shares.reset();
      }
    return std::make_shared<const Fairness>(made);
  }

  // Stores accounts and users as accounting records instead of those of the policy.
  void keep_records() {
    const auto keep = [&](AccountingRecord record) {
      const RecordKey key = key_of(record);
      cluster.state.accounting.set(key, std::move(record));
    };
    Account root;
    root.name = kRootAccount;
    root.id = kRootAssociation;
    keep(root);
    AssociationId next(kFirstRecordId);
    const auto number = [&] {
      recorded_.push_back(next);
      next = AssociationId(next.value() + 1);
      return recorded_.back();
    };
    for (const char* name : {"x", "y"}) {
      Account account;
      account.name = name;
      account.id = number();
      account.parent = kRootAccount;
      account.terms.shares = 1 + upto(2);
      keep(account);
      for (const char* user : {"a", "b", "c"}) {
        if (chance(30)) continue;
        Association one;
        one.key = {name, user, {}};
        one.id = number();
        one.terms.shares = upto(2);
        keep(one);
      }
    }
  }

  // Charges usage to a random association, resets its usage, or removes all stored usage.
  void charge() {
    const AssociationId whose = recorded_[upto(static_cast<std::uint32_t>(recorded_.size()) - 1)];
    AssociationUsage usage;
    if (const AssociationUsage* was = cluster.state.usage.find(whose)) usage = *was;
    usage.id = whose;
    const std::uint32_t what = upto(9);
    if (what == 0) {
      cluster.state.usage.erase(whose);
      return;
    }
    if (what == 1) {
      usage = reset(whose, now);
    } else {
      const std::uint64_t amount = 1 + upto(100'000);
      usage = added(
          std::move(usage),
          {{"billing", fairness::amount_of(amount)}, {"cpu", fairness::amount_of(amount / 2)}}, now,
          what == 2, cluster.policy.fairness.value->calc_period,
          cluster.policy.fairness.value->half_life, cluster.state.usage_since);
    }
    cluster.state.usage.set(whose, usage);
  }

  JobSpec random_spec() {
    JobSpec spec = TestCluster::spec(1 + upto(3), 1);
    const char* const users[] = {"a", "b", "c", "d"};
    const std::uint32_t who = upto(3);
    spec.user = users[who];
    spec.uid = UserId(1000 + who);
    const char* const accounts[] = {"", "x", "y", "z"};
    spec.account = accounts[upto(3)];
    if (chance(20)) spec.qos = "high";
    if (chance(30)) spec.gpus_per_node = {{chance(50) ? "a100" : "h100", 1}};
    if (chance(40)) spec.partitions = {"side"};
    if (chance(20)) spec.partitions = {"main", "side"};
    if (chance(90)) spec.time_limit = minutes(1 + upto(60));
    if (chance(15)) spec.array.emplace().insert(0, upto(6));
    spec.nice = static_cast<std::int32_t>(upto(2));
    return spec;
  }

  void submit() {
    Job job = cluster.job(random_spec());
    job.submitted = now - minutes(upto(100));
    job.eligible = job.submitted + seconds(upto(1000));
    if (chance(10)) {
      job.priority_set = true;
      job.priority = upto(3) * 300;
    }
    cluster.put(job);
  }

  std::vector<JobKey> keys(bool (*which)(JobState)) const {
    std::vector<JobKey> out;
    cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
      if (which(job.state)) out.push_back(key);
    });
    return out;
  }

  // Random events: jobs end, run again, move to other accounts, are removed.
  void happen() {
    const auto move_to_y = [&](const JobKey& key) {
      Job job = *cluster.state.jobs.find(key);
      JobSpec spec = *job.spec;
      spec.account = "y";
      job.spec = std::make_shared<const JobSpec>(spec);
      cluster.put(job);
    };
    for (const JobKey& key : keys([](JobState state) { return state == JobState::pending; }))
      if (chance(5)) move_to_y(key);
    for (const JobKey& key : keys(holds_resources)) {
      if (chance(5)) move_to_y(key);
      if (!chance(30)) continue;
      cluster.end(key);
      Job job = *cluster.state.jobs.find(key);
      if (chance(20)) {
        job.state = JobState::pending;
        job.allocation.reset();
      } else {
        job.ended = now;
      }
      cluster.put(job);
    }
    for (const JobKey& key : keys(is_terminal))
      if (chance(10)) cluster.state.jobs.erase(key);
    if (chance(10)) {
      Node node = cluster.node("n1");
      // Nodes with running jobs keep their inventory.
      const bool idle = node.charges.empty();
      if (idle && !node.inventory.gpus.empty()) node.inventory.gpus.pop_back();
      node.inventory.cpus += 1;
      cluster.put(node);
    }
    if (chance(5)) {
      Partition side = *cluster.state.partitions.find("side");
      side.tier = static_cast<std::int32_t>(upto(2));
      cluster.put(side);
    }
    if (chance(5)) cluster.policy.fairness.value = random_rules();
    for (std::uint32_t i = recorded_.empty() ? 0 : upto(3); i > 0; --i) charge();
    if (!recorded_.empty() && chance(3)) cluster.state.usage_since = now;
    now += chance(50) ? Duration(seconds(upto(30))) : Duration(minutes(upto(10)));
  }

  TestCluster cluster;
  Time now = kNow;

 private:
  // Associations that may have usage.
  std::vector<AssociationId> recorded_;
  std::mt19937_64 engine_;
};

TEST(OrderProperty, IncrementalPlanEqualsTheOneFromScratch) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Life life(seed, true);
    Planner planner;
    for (int step = 0; step < 25; ++step) {
      for (std::uint32_t i = life.upto(5); i > 0; --i) life.submit();
      const Plan plan = planner.plan(life.cluster.state, life.cluster.policy, {}, life.now);
      ASSERT_EQ(plan_text(plan), plan_text(life.cluster.plan(life.now)))
          << "seed " << seed << " step " << step;
      ASSERT_EQ(over_commitment(life.cluster.state, plan), "") << "seed " << seed;
      if (life.chance(80)) life.cluster.take(plan, life.now);
      life.happen();
    }
  }
}

// User ids only break ties: where usage and shares differ, they alone determine the order of users,
// and the rows of the tree may be in any order.
TEST(OrderProperty, OrderOfTreeRowsDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Life life(seed);
    for (int i = 0; i < 20; ++i) life.submit();
    // A user's first account is the default for jobs that name none, so the rows of one user keep
    // their order.
    Fairness rules = *life.cluster.policy.fairness.value;
    const std::string once = plan_text(life.cluster.plan(life.now));
    std::stable_sort(rules.tree.begin(), rules.tree.end(),
                     [](const AccountRow& a, const AccountRow& b) { return a.user > b.user; });
    life.cluster.policy.fairness.value = std::make_shared<const Fairness>(rules);
    ASSERT_EQ(once, plan_text(life.cluster.plan(life.now))) << "seed " << seed;
  }
}

// With drf on running usage, no user who could have started a job has a smaller dominant share than
// a user served later. On one node with jobs of one CPU users differ by one job at most.
TEST(OrderProperty, DrfServesUsersEvenly) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 dice(seed);
    TestCluster cluster;
    const auto cpus = static_cast<std::uint32_t>(1 + dice() % 40);
    cluster.add_node("n1", cpus);
    Fairness rules;
    rules.policy = QueuePolicy::drf;
    cluster.policy.fairness.value = std::make_shared<const Fairness>(rules);
    const std::uint32_t users = 1 + static_cast<std::uint32_t>(dice() % 6);
    std::vector<std::uint32_t> has(users), wants(users);
    for (std::uint32_t i = 0; i < 60; ++i) {
      const auto who = static_cast<std::uint32_t>(dice() % users);
      JobSpec spec = TestCluster::spec();
      spec.uid = UserId(who);
      spec.user = "u" + std::to_string(who);
      spec.nice = static_cast<std::int32_t>(dice() % 3);
      ++wants[who];
      cluster.submit(spec);
    }
    const Plan plan = cluster.plan();
    for (const PlanGroup& group : plan.groups)
      ++has[cluster.state.jobs.find(group.jobs.front().first)->spec->uid.value()];
    EXPECT_EQ(plan.groups.size(), std::min<std::size_t>(cpus, 60));
    for (std::uint32_t a = 0; a < users; ++a)
      for (std::uint32_t b = 0; b < users; ++b)
        EXPECT_TRUE(has[a] == wants[a] || has[b] <= has[a] + 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ares::core::sched
