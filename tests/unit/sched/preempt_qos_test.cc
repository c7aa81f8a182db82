// Preemption by QOS: which QOS it preempts by name, the mode of its own jobs, their exempt time and
// grace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cluster/preemptible.h"
#include "unit/sched/four_nodes.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

class PreemptionByQos : public testing::Test {
 protected:
  PreemptionByQos() : cluster(four_nodes()) {
    add_tiers(cluster);
    for (const char* name : {"normal", "scavenger", "urgent"}) put(named(name));
    Qos urgent = named("urgent");
    urgent.preempts = {"scavenger"};
    put(urgent);
  }
  static Qos named(const std::string& name) {
    Qos qos;
    qos.name = name;
    qos.id = QosId(name == "normal" ? 1 : name == "urgent" ? 2 : 3);
    return qos;
  }
  void put(const Qos& qos) { cluster.state.accounting.set(key_of(qos), qos); }
  void change(const std::string& name, const std::function<void(Qos&)>& how) {
    Qos qos = std::get<Qos>(*cluster.state.accounting.find({RecordKind::qos, name, {}, {}}));
    how(qos);
    put(qos);
  }
  // On each node one job that uses all of it.
  void fill(const std::string& qos, const std::string& partition = "main",
            Time started = kNow - hours(1)) {
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      const JobKey key = run(cluster, {name}, 4, started, partition, hours(100));
      Job job = *cluster.state.jobs.find(key);
      JobSpec spec = *job.spec;
      spec.qos = qos;
      job.spec = std::make_shared<const JobSpec>(spec);
      cluster.put(std::move(job));
      running.push_back(key);
    }
  }
  JobKey submit(const std::string& qos, const std::string& partition = "main") {
    JobSpec spec = high_spec(2);
    spec.partitions = {partition};
    spec.qos = qos;
    return cluster.submit(spec);
  }
  void hold(const JobKey& key) {
    Job job = *cluster.state.jobs.find(key);
    job.hold = Hold::user;
    cluster.put(std::move(job));
  }
  std::size_t victims(const JobKey& key, Time now = kNow) {
    return victims_of(cluster.plan(now), key).size();
  }

  TestCluster cluster;
  std::vector<JobKey> running;
};

TEST_F(PreemptionByQos, NamedQosIsPreemptedWithinItsTier) {
  fill("scavenger");
  EXPECT_EQ(victims(submit("urgent")), 1u);
  EXPECT_EQ(victims(submit("normal")), 0u) << "its QOS names none";
}

TEST_F(PreemptionByQos, QosThatIsNotNamedIsNotPreempted) {
  fill("normal");
  EXPECT_EQ(victims(submit("urgent")), 0u);
}

TEST_F(PreemptionByQos, TiersPrecedeNames) {
  add_tiers(cluster);
  Partition high = cluster.partition("high");
  high.preempt_mode = PreemptMode::requeue;
  cluster.put(high);
  fill("scavenger", "high");
  EXPECT_EQ(victims(submit("urgent")), 0u) << "they are in a higher tier";
  EXPECT_EQ(victims(submit("urgent", "high")), 1u);
}

TEST_F(PreemptionByQos, PrioritiesAreIgnoredForQosThatNameOthers) {
  cluster.policy.preemption.by_qos = true;
  change("urgent", [](Qos& qos) { qos.priority = 100; });
  change("scavenger", [](Qos& qos) { qos.priority = 1000; });
  fill("urgent");
  const JobKey key = submit("scavenger");
  EXPECT_EQ(victims(key), 0u) << "urgent preempts it: both ways would go on for ever";
  for (const JobKey& one : running) cluster.end(one);
  fill("normal");
  EXPECT_EQ(victims(key), 1u) << "of these neither names any";
}

TEST_F(PreemptionByQos, ItsModePrecedesThatOfThePartition) {
  fill("scavenger");
  change("scavenger", [](Qos& qos) { qos.preempt_mode = PreemptMode::off; });
  const JobKey key = submit("urgent");
  EXPECT_EQ(victims(key), 0u);
  const JobKey higher = submit("normal", "high");
  EXPECT_EQ(victims(higher), 0u) << "whatever the tier";
  hold(higher);
  add_tiers(cluster, PreemptMode::off);
  change("scavenger", [](Qos& qos) { qos.preempt_mode = PreemptMode::cancel; });
  EXPECT_EQ(victims(key), 1u);
  const Job& victim = *cluster.state.jobs.find(running.front());
  EXPECT_FALSE(eviction_of(cluster.state, cluster.policy, victim, key, kNow).requeue);
  change("scavenger", [](Qos& qos) { qos.preempt_mode = PreemptMode::requeue; });
  EXPECT_TRUE(eviction_of(cluster.state, cluster.policy, victim, key, kNow).requeue);
}

TEST_F(PreemptionByQos, ExemptTimeProtectsAJob) {
  fill("scavenger", "main", kNow - minutes(5));
  const JobKey key = submit("urgent");
  EXPECT_EQ(victims(key), 1u);
  change("scavenger", [](Qos& qos) { qos.preempt_exempt = minutes(10); });
  EXPECT_EQ(victims(key), 0u);
  EXPECT_EQ(cluster.plan().wake, kNow + minutes(5)) << "then one may be ended";
  EXPECT_EQ(victims(key, kNow + minutes(5)), 1u);
  Partition main = cluster.partition();
  main.qos = "normal";
  cluster.put(main);
  change("normal", [](Qos& qos) { qos.preempt_exempt = minutes(4); });
  EXPECT_EQ(victims(key), 1u) << "the partition's QOS comes first";
}

TEST_F(PreemptionByQos, ItsGraceIsUsed) {
  fill("scavenger");
  change("scavenger", [](Qos& qos) { qos.grace = minutes(7); });
  const JobKey key = submit("urgent");
  const Plan plan = cluster.plan();
  const ProposedClaim* made = claim_of(plan, key);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->claim.ready, kNow + minutes(7));
  const Job& victim = *cluster.state.jobs.find(running.front());
  const Ending ending = eviction_of(cluster.state, cluster.policy, victim, key, kNow);
  ASSERT_TRUE(ending.preempted);
  EXPECT_EQ(ending.preempted->grace, minutes(7));
}

TEST_F(PreemptionByQos, LongGraceOfOneVictimProtectsNoOther) {
  fill("scavenger");
  Qos slow = named("slow");
  slow.grace = hours(24);
  put(slow);
  change("urgent", [](Qos& qos) { qos.preempts = {"scavenger", "slow"}; });
  Job job = *cluster.state.jobs.find(running[0]);
  JobSpec spec = *job.spec;
  spec.qos = "slow";
  job.spec = std::make_shared<const JobSpec>(spec);
  cluster.put(std::move(job));
  // The job would start without preemption after five hours.
  Job soon = *cluster.state.jobs.find(running[1]);
  soon.allocation->time_limit = hours(6);
  cluster.put(std::move(soon));
  EXPECT_EQ(victims(submit("urgent")), 1u);
}

TEST_F(PreemptionByQos, WithinATierNoJobIsSuspended) {
  fill("scavenger");
  change("scavenger", [](Qos& qos) { qos.preempt_mode = PreemptMode::suspend; });
  const JobKey key = submit("urgent");
  EXPECT_EQ(victims(key), 0u) << "it would go on before the next one of that tier";
  hold(key);
  EXPECT_EQ(victims(submit("normal", "high")), 1u);
}

TEST_F(PreemptionByQos, NothingIsPreemptedIfNoQosNamesAny) {
  change("urgent", [](Qos& qos) { qos.preempts.clear(); });
  fill("scavenger");
  EXPECT_EQ(victims(submit("urgent")), 0u);
  EXPECT_FALSE(preempts(cluster.state, cluster.policy, cluster.partition()));
}

}  // namespace
}  // namespace ares::core::sched
