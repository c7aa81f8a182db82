// Tests: accruals, ranking, ranking_measure, stored_use, service_order
// The effect of each queue policy: which jobs start first if not all can.
#include "core/sched/queue/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

// One node of `cpus`; the jobs that start on it in the plan's order, as letters of users.
class OrderTest : public testing::Test {
 protected:
  void use(Fairness rules) {
    cluster.policy.fairness.value = std::make_shared<const Fairness>(std::move(rules));
  }
  static Fairness rules(QueuePolicy policy) {
    Fairness made;
    made.policy = policy;
    return made;
  }
  static AccountRow user(const std::string& name, std::uint32_t shares, std::uint64_t usage = 0,
                         const std::string& in = "") {
    return {in, "", name, shares, 0, {{"cpu", usage}}};
  }
  static AccountRow account(const std::string& name, std::uint32_t shares) {
    return {name, "", "", shares, 0, {}};
  }

  JobSpec spec(char who, std::uint32_t cpus = 1) {
    JobSpec made = TestCluster::spec(cpus);
    made.user = who;
    made.uid = UserId(1000u + static_cast<unsigned char>(who));
    made.time_limit = hours(1);
    return made;
  }
  JobKey submit(char who, std::uint32_t cpus = 1) { return cluster.submit(spec(who, cpus)); }
  void change(const JobKey& key, const std::function<void(Job&)>& how) {
    Job job = *cluster.state.jobs.find(key);
    how(job);
    cluster.put(std::move(job));
  }
  void set_priority(const JobKey& key, std::uint32_t priority) {
    change(key, [&](Job& job) {
      job.priority = priority;
      job.priority_set = true;
    });
  }

  std::string started(Time now = kNow) {
    std::string users;
    for (const PlanGroup& group : cluster.plan(now).groups)
      for (const Start& start : group.starts)
        users += cluster.state.jobs.find(group.jobs.front().first)->spec->user +
                 (start.key.task.is_none() ? "" : std::to_string(start.key.task.value));
    return users;
  }
  std::vector<std::uint64_t> started_ids(Time now = kNow) {
    std::vector<std::uint64_t> ids;
    for (const PlanGroup& group : cluster.plan(now).groups)
      ids.push_back(group.jobs.front().first.job.value());
    return ids;
  }

  TestCluster cluster;
};

TEST_F(OrderTest, FifoIsByAgeExceptForOperatorPriorities) {
  cluster.add_node("n1", 8);
  use(rules(QueuePolicy::fifo));
  for (int i = 0; i < 5; ++i) submit('a');
  const auto key = [](std::uint64_t id) { return JobKey{JobId(id), TaskIndex{}}; };
  change(key(1), [](Job& job) { job.eligible = kNow - minutes(1); });
  change(key(2), [](Job& job) {
    job.eligible = kNow - minutes(3);
    // The partition's value; no operator set it.
    job.priority = 0;
    JobSpec nice = *job.spec;
    nice.nice = 500;
    job.spec = std::make_shared<const JobSpec>(nice);
  });
  change(key(3), [](Job& job) { job.eligible = kNow - minutes(2); });
  set_priority(key(4), 7);
  set_priority(key(5), 0);
  EXPECT_THAT(started_ids(), ElementsAre(4, 2, 3, 1, 5));
}

TEST_F(OrderTest, TierPrecedesEveryPolicy) {
  cluster.add_node("n1", 1);
  Partition high = cluster.partition();
  high.name = "high";
  high.is_default = false;
  high.tier = 5;
  cluster.put(high);
  use(rules(QueuePolicy::fifo));
  submit('a');
  JobSpec urgent = spec('b');
  urgent.partitions = {"high"};
  cluster.submit(urgent);
  EXPECT_EQ(started(), "b");
}

TEST_F(OrderTest, MultifactorWeighsAgeAgainstQos) {
  cluster.add_node("n1", 1);
  Fairness with = rules(QueuePolicy::multifactor);
  with.weights.age = 1000;
  with.weights.qos = 100;
  with.qos = {{"high", 10}, {"low", 0}};
  use(with);
  const JobKey old = submit('a');
  JobSpec high = spec('b');
  high.qos = "high";
  const JobKey young = cluster.submit(high);
  for (const JobKey& key : {old, young})
    change(key, [&](Job& job) { job.submitted = job.eligible = kNow - hours(1); });
  EXPECT_EQ(started(), "b") << "the same age, the better QOS";
  change(old, [](Job& job) { job.eligible = kNow - hours(24); });
  EXPECT_EQ(started(), "a") << "a day is 143 of 1000, the QOS 100";
  set_priority(young, 1000);
  EXPECT_EQ(started(), "b") << "an operator's number takes the place of the computed one";
  set_priority(young, 10);
  EXPECT_EQ(started(), "a");
}

TEST_F(OrderTest, MultifactorIsRecomputedAtEachPeriod) {
  cluster.add_node("n1", 1);
  Fairness with = rules(QueuePolicy::multifactor);
  with.weights.age = 1'000'000;
  with.max_age = hours(1);
  use(with);
  submit('a', 2);  // never fits
  const Time period = kNow + seconds(17);
  const Plan plan = cluster.plan(period);
  ASSERT_TRUE(plan.wake);
  EXPECT_EQ(*plan.wake, kNow + seconds(300)) << "time alone may change the order then";

  ClusterIndex index(cluster.state);
  Ranking ranking(cluster.state, cluster.policy, index, kNow);
  const JobKey first{JobId(1), TaskIndex{}};
  change(first, [](Job& changed) { changed.eligible = kNow - minutes(30); });
  const QueueEntry entry{cluster.state.jobs.find(first), cluster.state.partitions.find("main"), 0};
  EXPECT_EQ(ranking.priority_of(entry).value, 500'000u);
  const ClusterState& same = cluster.state;
  EXPECT_FALSE(ranking.update(same, same, index, kNow + seconds(299)));
  EXPECT_TRUE(ranking.update(same, same, index, kNow + seconds(300)));
  EXPECT_EQ(ranking.priority_of(entry).value, 583'333u);
}

TEST_F(OrderTest, MultifactorUsesPartitionSizeAndTres) {
  cluster.add_node("n1", 8, Bytes::gib(8));
  cluster.add_node("n2", 8, Bytes::gib(8));
  cluster.add_gpus("n1", "a100", 4);
  Fairness with = rules(QueuePolicy::multifactor);
  with.weights.job_size = 1000;
  with.weights.partition = 300;
  with.tres_weights = {{"cpu", 160}, {"gres/gpu:a100", 400}, {"mem", 16}};
  use(with);
  Partition main = cluster.partition();
  main.priority = 5;
  cluster.put(main);
  JobSpec big = spec('a', 4);
  big.memory_per_node = Bytes::gib(4);
  big.gpus_per_node = {{"a100", 1}};
  big.nice = 10;
  const JobKey key = cluster.submit(big);
  ClusterIndex index(cluster.state);
  const Ranking ranking(cluster.state, cluster.policy, index, kNow);
  const auto priority =
      ranking.priority_of({cluster.state.jobs.find(key), cluster.state.partitions.find("main"), 0});
  // (1/2 + 4/16)/2 of 1000, all of 300, 4/16 of 160, 1/4 of 400, 4/16 of 16, minus 10.
  EXPECT_EQ(priority.value, 375u + 300 + 40 + 100 + 4 - 10);
}

TEST_F(OrderTest, FairTreeServesTheUnderservedAccountFirst) {
  cluster.add_node("n1", 1);
  Fairness with = rules(QueuePolicy::fair_tree);
  with.tree = {account("rich", 1), account("poor", 1), user("r", 1, 1000, "rich"),
               user("s", 1, 0, "rich"), user("p", 1, 900, "poor")};
  use(with);
  submit('x');
  submit('r');
  submit('s');
  submit('p');
  EXPECT_EQ(started(), "p")
      << "the account of p used less, though user s of the other account used nothing";
  with.tree.back().usage["cpu"] = 1100;
  use(with);
  EXPECT_EQ(started(), "s") << "and within the account the user that used less";
  with.policy = QueuePolicy::fifo;
  use(with);
  EXPECT_EQ(started(), "x");
}

TEST_F(OrderTest, FairTreeCountsRunningAndRecentlyEndedJobs) {
  cluster.add_node("n1", 4);
  Fairness with = rules(QueuePolicy::fair_tree);
  with.tree = {user("a", 1), user("b", 1, 3600)};
  use(with);
  const JobKey running = submit('a', 4);
  cluster.take(cluster.plan(), kNow);
  submit('b', 4);
  submit('a', 4);
  // Four CPUs for ten minutes are 2,400 CPU-seconds; for twenty minutes 4,800.
  const auto first = [&](Time now) {
    TestCluster free = cluster;
    free.end(running);
    Job ended = *free.state.jobs.find(running);
    ended.ended = now;
    free.put(ended);
    return free.state.jobs.find(free.plan(now).groups.at(0).jobs.at(0).first)->spec->user;
  };
  EXPECT_EQ(first(kNow + minutes(10)), "a")
      << "a user without running attempts has the configured usage";
  TestCluster more = cluster;
  more.add_node("n2", 4);
  const auto second = [&](Time now) {
    return more.state.jobs.find(more.plan(now).groups.at(0).jobs.at(0).first)->spec->user;
  };
  EXPECT_EQ(second(kNow + minutes(10)), "a");
  EXPECT_EQ(second(kNow + minutes(20)), "b");
  Job ended = *more.state.jobs.find(running);
  more.end(running);
  ended = *more.state.jobs.find(running);
  ended.ended = kNow + minutes(21);
  more.put(ended);
  EXPECT_EQ(second(kNow + minutes(21)), "b") << "it ran when usage was last looked at";
}

TEST_F(OrderTest, ExplicitPriorityPrecedesFairTreeAndZeroFollowsIt) {
  cluster.add_node("n1", 8);
  Fairness with = rules(QueuePolicy::fair_tree);
  with.tree = {user("a", 1), user("b", 1, 10)};
  use(with);
  const JobKey a = submit('a'), b = submit('b');
  EXPECT_EQ(started(), "ab");
  set_priority(b, 1);
  EXPECT_EQ(started(), "ba");
  set_priority(b, 5);
  set_priority(a, 9);
  EXPECT_EQ(started(), "ab");
  set_priority(a, 0);
  submit('b');
  EXPECT_EQ(started(), "bba");
}

TEST_F(OrderTest, DrfLetsUsersAlternate) {
  cluster.add_node("n1", 6);
  use(rules(QueuePolicy::drf));
  for (int i = 0; i < 6; ++i) submit('a');
  for (int i = 0; i < 6; ++i) submit('b');
  EXPECT_EQ(started(), "ababab");
}

TEST_F(OrderTest, DrfReproducesTheExampleOfThePaper) {
  cluster.add_node("n1", 9, Bytes::gib(18));
  use(rules(QueuePolicy::drf));
  for (int i = 0; i < 9; ++i) {
    JobSpec a = spec('a', 1), b = spec('b', 3);
    a.memory_per_node = Bytes::gib(4);
    b.memory_per_node = Bytes::gib(1);
    cluster.submit(a);
    cluster.submit(b);
  }
  // 3 tasks of <1 CPU, 4 GB> and 2 of <3 CPUs, 1 GB>; both users then have a dominant share of two
  // thirds.
  std::string order = started();
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, "aaabb");
}

TEST_F(OrderTest, DrfCountsEachTypeOfGpu) {
  cluster.add_node("n1", 100);
  cluster.add_gpus("n1", "a100", 4);
  cluster.add_gpus("n1", "h100", 8);
  use(rules(QueuePolicy::drf));
  for (int i = 0; i < 4; ++i) {
    JobSpec a = spec('a'), b = spec('b');
    a.gpus_per_node = {{"a100", 1}};
    b.gpus_per_node = {{"h100", 1}};
    cluster.submit(a);
    cluster.submit(b);
  }
  EXPECT_EQ(started(), "abbabbaa") << "a quarter against an eighth each";
}

TEST_F(OrderTest, DrfFollowsSharesAndRunningUsage) {
  cluster.add_node("n1", 8);
  Fairness with = rules(QueuePolicy::drf);
  with.tree = {user("a", 3), user("b", 1)};
  use(with);
  for (int i = 0; i < 12; ++i) submit('a');
  for (int i = 0; i < 8; ++i) submit('b');
  submit('x');  // not in the tree
  EXPECT_EQ(started(), "abaaabaa") << "three to one";
  cluster.take(cluster.plan(), kNow);
  cluster.add_node("n2", 4);
  EXPECT_EQ(started(), "abaa") << "6/3 and 2/1 so far, so it goes on in the same way";
}

TEST_F(OrderTest, DrfStartsOneTaskOfAnArrayAtATime) {
  cluster.add_node("n1", 6);
  use(rules(QueuePolicy::drf));
  JobSpec array = spec('a');
  array.array.emplace().insert(1, 100);
  const JobKey key = cluster.submit(array);
  submit('b');
  submit('b');
  EXPECT_EQ(started(), "a1ba2ba3a4");
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, key)->reason, Reason::resources);
}

TEST_F(OrderTest, DrfOnDeliveredUsageOrdersByPastUsage) {
  cluster.add_node("n1", 10, Bytes::mib(10'000));
  Fairness with = rules(QueuePolicy::drf);
  with.drf_usage = DrfUsage::delivered;
  with.tree = {user("a", 1), user("b", 1), user("c", 2)};
  with.tree[0].usage = {{"cpu", 500}};                   // 50 of a CPU's share
  with.tree[1].usage = {{"cpu", 10}, {"mem", 400'000}};  // 40 of memory's
  with.tree[2].usage = {{"cpu", 700}};                   // 70 with twice the shares
  use(with);
  for (const char who : {'x', 'a', 'b', 'c', 'a'}) submit(who);
  EXPECT_EQ(started(), "cbaax");
}

TEST_F(OrderTest, EachPartitionHasItsPolicy) {
  cluster.add_node("n1", 4);
  cluster.add_node("n2", 4);
  Partition main = cluster.partition();
  main.nodes = {"n1"};
  cluster.put(main);
  main.name = "turns";
  main.nodes = {"n2"};
  main.is_default = false;
  cluster.put(main);
  Fairness with = rules(QueuePolicy::fifo);
  with.partitions = {{"turns", QueuePolicy::drf}};
  use(with);
  for (int i = 0; i < 4; ++i) submit('a');
  submit('b');
  for (const char who : {'c', 'c', 'c', 'd', 'd'}) {
    JobSpec there = spec(who);
    there.partitions = {"turns"};
    cluster.submit(there);
  }
  EXPECT_EQ(started(), "aaaacdcd");
}

TEST_F(OrderTest, TasksOfAnArrayInTwoPartitionsStartOnce) {
  cluster.add_node("n1", 4);
  cluster.add_node("n2", 4);
  Partition main = cluster.partition();
  main.nodes = {"n1"};
  cluster.put(main);
  main.name = "other";
  main.nodes = {"n2"};
  cluster.put(main);
  JobSpec array = spec('a');
  array.partitions = {"main", "other"};
  array.array.emplace().insert(1, 6);
  cluster.submit(array);
  const Plan plan = cluster.plan();
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  EXPECT_EQ(plan.groups.size(), 6u);
  EXPECT_TRUE(plan.pending.empty());
}

TEST_F(OrderTest, JobsAheadAreCountedInTheOrderOfThePolicy) {
  cluster.add_node("n1", 1);
  Fairness with = rules(QueuePolicy::fair_tree);
  with.tree = {user("a", 1, 30), user("b", 1, 20), user("c", 1, 10)};
  use(with);
  const JobKey a = submit('a'), b = submit('b'), c = submit('c');
  const auto ahead = [&](const JobKey& key) {
    return JobsAhead(cluster.state, cluster.policy, kNow).of(*cluster.state.jobs.find(key));
  };
  EXPECT_EQ(ahead(a), 2u);
  EXPECT_EQ(ahead(b), 1u);
  EXPECT_EQ(ahead(c), 0u);

  use(rules(QueuePolicy::drf));
  cluster.take(cluster.plan(), kNow);  // of user a
  const JobKey again = submit('a');
  EXPECT_EQ(ahead(again), 2u) << "a has one running";
  EXPECT_EQ(ahead(b), 0u);
  EXPECT_EQ(ahead(c), 1u);
}

}  // namespace
}  // namespace ares::core::sched
