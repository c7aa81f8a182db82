// Tests: admit, change_kinds, wait_causes, change_search, what_if, pass_observer
// The explanation of a waiting job: each kind of reason with its numbers, and changes that would
// let it start.
#include "core/sched/why/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/why/explainer.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TestCluster nodes(int count, std::uint32_t cpus = 4) {
  TestCluster cluster;
  for (int i = 1; i <= count; ++i) cluster.add_node("n" + std::to_string(i), cpus);
  return cluster;
}

JobSpec on(std::uint32_t cpus, minutes limit) {
  JobSpec spec = TestCluster::spec();
  spec.cpus_per_task = cpus;
  spec.time_limit = limit;
  return spec;
}

JobKey run(TestCluster& cluster, const JobSpec& spec) {
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, key));
  cluster.take(plan, kNow);
  return key;
}

JobKey run_on(TestCluster& cluster, const std::string& node, std::uint32_t cpus, minutes limit) {
  JobSpec spec = on(cpus, limit);
  spec.required_nodes = {node};
  return run(cluster, spec);
}

JobExplanation why(const TestCluster& cluster, const JobKey& key) {
  const Plan plan = cluster.plan();
  return explain_job(cluster.state, cluster.policy, *cluster.state.jobs.find(key),
                     plan.pending.find(key), kNow);
}

std::vector<std::string> changes(const JobExplanation& why) {
  std::vector<std::string> out;
  for (const SuggestedChange& change : why.changes)
    out.push_back(change.text + (change.note.empty() ? "" : " (" + change.note + ")"));
  return out;
}

std::string cause(const JobExplanation& why, Reason reason) {
  std::string text;
  for (const WaitCause& one : why.causes)
    if (one.reason == reason) text += (text.empty() ? "" : " | ") + one.text;
  return text;
}

// Modifies a job directly, as an administrator's command or passing time would.
template <class Change>
void edit(TestCluster& cluster, const JobKey& key, Change&& change) {
  Job job = *cluster.state.jobs.find(key);
  change(job);
  cluster.put(job);
}

TEST(JobExplanation, ASmallerJobWouldFit) {
  TestCluster cluster = nodes(2);
  run_on(cluster, "n1", 3, minutes(60));
  run_on(cluster, "n2", 2, minutes(90));
  JobSpec spec = on(4, minutes(30));
  spec.memory_per_node = Bytes::mib(100);
  const JobExplanation told = why(cluster, cluster.submit(spec));
  EXPECT_FALSE(told.starts_now);
  EXPECT_THAT(cause(told, Reason::resources),
              AllOf(HasSubstr("needs 4 CPUs, 100M a node on 1 node"),
                    HasSubstr("2 nodes with too few free CPUs"),
                    HasSubstr("free in all: 3 CPUs, at most 2 on one node")));
  EXPECT_THAT(changes(told), ElementsAre("--cpus-per-task=2"));
  EXPECT_EQ(told.start, kNow + minutes(60));
  EXPECT_EQ(told.jobs_ahead, 0u);
  EXPECT_FALSE(told.cut);
}

// A waiting job keeps the name of a partition that was removed from ares.yaml.
TEST(JobExplanation, APartitionThatIsGoneIsLeftOut) {
  TestCluster cluster = nodes(1);
  run(cluster, on(3, hours(1)));
  JobSpec spec = on(2, hours(1));
  spec.partitions = {"gone", spec.partitions.front()};
  const JobKey key = cluster.submit(spec);
  EXPECT_THAT(changes(why(cluster, key)), Contains("--cpus-per-task=1"));
}

TEST(JobExplanation, MemoryIsSuggestedToTheMebibyte) {
  TestCluster cluster = nodes(1);
  JobSpec half = on(1, minutes(60));
  half.memory_per_node = Bytes::mib(1500);
  run(cluster, half);
  JobSpec spec = on(1, minutes(30));
  spec.memory_per_node = Bytes::gib(3);
  const JobExplanation told = why(cluster, cluster.submit(spec));
  EXPECT_THAT(cause(told, Reason::resources), HasSubstr("too little free memory"));
  EXPECT_THAT(changes(told), ElementsAre("--mem=2500M"));
}

TEST(JobExplanation, AShorterJobWouldEndBeforeAnotherNeedsTheNodes) {
  TestCluster cluster = nodes(1);
  run_on(cluster, "n1", 3, minutes(60));
  const JobKey head = cluster.submit(on(4, minutes(60)));
  const JobExplanation told = why(cluster, cluster.submit(on(1, minutes(120))));
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_EQ(told.causes[0].reason, Reason::priority);
  EXPECT_EQ(told.causes[0].partition, "main");
  EXPECT_THAT(told.causes[0].text, HasSubstr("enough is free now, but it would delay job 2"));
  ASSERT_EQ(told.causes[0].delays.size(), 1u);
  EXPECT_EQ(told.causes[0].delays[0].job, head);
  EXPECT_EQ(told.causes[0].delays[0].start, kNow + minutes(60));
  EXPECT_THAT(told.causes[0].delays[0].nodes, ElementsAre(cluster.node("n1").id));
  EXPECT_THAT(changes(told),
              ElementsAre("--time=01:00:00 (it would end before job 2 needs the nodes)"));
  EXPECT_EQ(told.jobs_ahead, 1u);
}

TEST(JobExplanation, NodesOfAReservationAreNotFreeForJobsThatWaitBehindOthers) {
  TestCluster cluster = nodes(2);
  Reservation course;
  course.name = "course";
  course.start = kNow;
  course.end = kNow + hours(1);
  course.nodes = {"n1"};
  course.users = {UserId(7)};
  cluster.state.reservations.set(course.name, course);
  JobSpec both = on(4, minutes(60));
  both.min_nodes = both.max_nodes = both.tasks = 2;
  cluster.submit(both);  // has a planned start on both nodes
  JobSpec spec = on(1, minutes(5));
  spec.required_nodes = {"n1"};
  const JobExplanation told = why(cluster, cluster.submit(spec));
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_EQ(told.causes[0].reason, Reason::reservation) << told.causes[0].text;
  EXPECT_THAT(told.causes[0].text, HasSubstr("1 node in course"));
}

TEST(JobExplanation, OfAJobsOwnReservationItIsToldOnceThatItHasNotBegun) {
  TestCluster cluster = nodes(2);
  JobSpec spec = on(1, minutes(5));
  spec.reservations = {"course"};
  Reservation course;
  course.name = "course";
  course.start = kNow + minutes(1);
  course.end = kNow + hours(1);
  course.nodes = {"n1"};
  course.users = {spec.uid};
  cluster.state.reservations.set(course.name, course);
  const JobKey key = cluster.submit(spec);
  const JobExplanation told = why(cluster, key);
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_THAT(told.causes[0].text, HasSubstr("has not begun"));
  EXPECT_EQ(told.start, kNow + minutes(1));

  Reservation other = course;
  other.name = "other";
  other.start = kNow;
  other.users = {UserId(7)};
  cluster.state.reservations.set(other.name, other);
  EXPECT_THAT(cause(why(cluster, key), Reason::reservation), HasSubstr("1 node in other"));
}

TEST(JobExplanation, ABeginTimeIsEstimatedIfOneOfThePartitionsCouldStartIt) {
  TestCluster cluster = nodes(2);
  Partition down = cluster.partition();
  down.name = "down";
  down.is_default = false;
  down.up = false;
  cluster.put(down);
  JobSpec spec = on(1, minutes(5));
  spec.partitions = {"down", "main"};
  spec.begin = kNow + minutes(5);
  EXPECT_EQ(why(cluster, cluster.submit(spec)).start, kNow + minutes(5));
  spec.partitions = {"down"};
  EXPECT_FALSE(why(cluster, cluster.submit(spec)).start);
}

TEST(JobExplanation, SuggestsFewerNodesWithTheirTasksOrAnotherPartition) {
  TestCluster cluster = nodes(5);
  Partition all = cluster.partition();
  all.name = "all";
  all.is_default = false;
  cluster.put(all);
  Partition main = cluster.partition();
  main.nodes.pop_back();
  cluster.put(main);
  run_on(cluster, "n2", 4, minutes(60));
  JobSpec spec = TestCluster::spec(4, 4);
  spec.cpus_per_task = 4;
  spec.time_limit = minutes(10);
  EXPECT_THAT(changes(why(cluster, cluster.submit(spec))),
              ElementsAre("--nodes=3 --ntasks=3", "--partition=all"));
  all.allow_groups = {"staff"};
  cluster.put(all);
  EXPECT_THAT(changes(why(cluster, JobKey{JobId(2), {}})), ElementsAre("--nodes=3 --ntasks=3"));
}

TEST(JobExplanation, SuggestsTwoChangesIfOneIsNotEnough) {
  TestCluster cluster = nodes(1);
  JobSpec half = on(2, minutes(60));
  half.memory_per_node = Bytes::mib(3000);
  run(cluster, half);
  JobSpec spec = on(3, minutes(30));
  spec.memory_per_node = Bytes::mib(2000);
  EXPECT_THAT(changes(why(cluster, cluster.submit(spec))),
              ElementsAre("--mem=1000M --cpus-per-task=2"));
}

TEST(JobExplanation, ReportsGpusOfTheWrongTypeAndTooMany) {
  TestCluster cluster = nodes(2);
  cluster.add_gpus("n1", "a100", 2);
  cluster.add_gpus("n2", "h100", 4);
  JobSpec busy = on(1, minutes(60));
  busy.gpus_per_node = {{"a100", 1}};
  run(cluster, busy);
  JobSpec spec = on(1, minutes(30));
  spec.gpus_per_node = {{"a100", 2}};
  const JobExplanation told = why(cluster, cluster.submit(spec));
  EXPECT_THAT(cause(told, Reason::resources),
              AllOf(HasSubstr("too few free GPUs"), HasSubstr("; 1 a100"),
                    HasSubstr("of other types 4 h100")));
  EXPECT_THAT(changes(told), ElementsAre("--gpus-per-node=a100:1", "--gpus-per-node=h100:2"));
}

TEST(JobExplanation, ReportsDemandsThatThePartitionNeverMeets) {
  TestCluster cluster = nodes(2);
  cluster.add_gpus("n1", "a100", 2);
  JobSpec spec = on(1, minutes(30));
  spec.gpus_per_node = {{"b200", 1}};
  const JobExplanation told = why(cluster, cluster.submit(spec));
  EXPECT_THAT(cause(told, Reason::bad_constraints), HasSubstr("which partition main never has"));
  EXPECT_THAT(changes(told), ElementsAre("--gpus-per-node=a100:1"));
  EXPECT_FALSE(told.start);
}

TEST(JobExplanation, ReportsMissingLicences) {
  TestCluster cluster = nodes(2);
  cluster.policy.licenses = {{"matlab", 3}};
  JobSpec spec = on(1, minutes(60));
  spec.licenses = {{"matlab", 2}};
  run(cluster, spec);
  const JobKey key = cluster.submit(spec);
  const JobExplanation told = why(cluster, key);
  EXPECT_EQ(cause(told, Reason::licenses), "needs 2 matlab: 1 of 3 free");
  EXPECT_THAT(changes(told), ElementsAre("--licenses=matlab:1"));
  Explainer explainer(cluster.state, cluster.policy);
  EXPECT_EQ(explainer.explain(*cluster.state.jobs.find(key), kNow).reason, Reason::licenses);
}

TEST(JobExplanation, HeldJobGetsAllOtherCausesToo) {
  TestCluster cluster = nodes(1);
  const JobKey first = run_on(cluster, "n1", 3, minutes(60));
  const JobKey key = cluster.submit(on(1, minutes(30)));
  edit(cluster, key, [&](Job& job) {
    job.hold = Hold::user;
    job.waiting_for = {{DependencyKind::after_ok, first, {}}};
  });
  JobExplanation told = why(cluster, key);
  EXPECT_THAT(cause(told, Reason::job_held_user), HasSubstr("actl release"));
  EXPECT_EQ(cause(told, Reason::dependency), "waits for the success of job 1, which is RUNNING");
  EXPECT_THAT(changes(told), ElementsAre("released without --dependency"));
  EXPECT_FALSE(told.start);
  const JobKey large = cluster.submit(on(2, minutes(30)));
  edit(cluster, large, [](Job& job) { job.hold = Hold::admin; });
  told = why(cluster, large);
  EXPECT_THAT(cause(told, Reason::job_held_admin), HasSubstr("administrator"));
  EXPECT_THAT(cause(told, Reason::resources), HasSubstr("too few free CPUs"));
  EXPECT_THAT(changes(told), ElementsAre("released --cpus-per-task=1"));
}

TEST(JobExplanation, NamesTheSilentNodeOfTheJobThatItDependsOn) {
  TestCluster cluster = nodes(2);
  const JobKey first = run_on(cluster, "n1", 3, minutes(60));
  const JobKey key = cluster.submit(on(1, minutes(30)));
  edit(cluster, key, [&](Job& job) { job.waiting_for = {{DependencyKind::after_ok, first, {}}}; });
  Node lost = cluster.node("n1");
  lost.contact = Contact::lost;
  cluster.state.nodes.set(lost.id, lost);
  EXPECT_EQ(cause(why(cluster, key), Reason::dependency),
            "waits for the success of job 1, which is RUNNING on n1, which does not answer");
}

TEST(JobExplanation, ReportsTimesAndLimitsTogether) {
  TestCluster cluster = nodes(2);
  Partition main = cluster.partition();
  main.max_time = minutes(10);
  main.max_nodes = 1;
  cluster.put(main);
  JobSpec spec = TestCluster::spec(2, 2);
  spec.time_limit = minutes(20);
  spec.begin = kNow + minutes(5);
  const JobExplanation told = why(cluster, cluster.submit(spec));
  EXPECT_THAT(cause(told, Reason::begin_time), HasSubstr("begin time"));
  EXPECT_THAT(cause(told, Reason::partition_time_limit),
              HasSubstr("00:20:00 is above 00:10:00 of partition main"));
  EXPECT_THAT(cause(told, Reason::partition_node_limit), HasSubstr("needs 2 nodes"));
  EXPECT_EQ(told.causes[0].until, kNow + minutes(5));
  EXPECT_THAT(changes(told), ElementsAre("without --begin --time=00:10:00 --nodes=1 --ntasks=1"));
}

// One account with a limit on the CPUs of all its jobs.
TestCluster with_cpu_limit(std::uint64_t most) {
  TestCluster cluster = nodes(2);
  cluster.policy.accounting.enforce = Enforce::limits;
  Account root, chem;
  root.name = "root";
  root.id = AssociationId(1);
  chem.name = "chem";
  chem.parent = "root";
  chem.id = AssociationId(2);
  chem.terms.limits = {{LimitKind::grp_tres, "cpu", most}};
  Association member;
  member.key = {"chem", "u", {}};
  member.id = AssociationId(3);
  Qos normal;
  normal.name = "normal";
  normal.id = QosId(4);
  for (AccountingRecord record : {AccountingRecord(root), AccountingRecord(chem),
                                  AccountingRecord(member), AccountingRecord(normal)})
    cluster.state.accounting.set(key_of(record), record);
  return cluster;
}

TEST(JobExplanation, NoStartIsEstimatedOfAJobWhoseQosIsGone) {
  TestCluster cluster = with_cpu_limit(100);
  JobSpec spec = on(1, minutes(5));
  spec.user = "u";
  spec.account = "chem";
  spec.qos = "normal";
  spec.begin = kNow + minutes(5);
  const JobKey key = cluster.submit(spec);
  EXPECT_EQ(why(cluster, key).start, kNow + minutes(5));
  Qos normal;
  normal.name = "normal";
  cluster.state.accounting.erase(key_of(AccountingRecord(normal)));
  const JobExplanation told = why(cluster, key);
  EXPECT_THAT(cause(told, Reason::invalid_qos), HasSubstr("normal"));
  EXPECT_FALSE(cause(told, Reason::begin_time).empty());
  EXPECT_FALSE(told.start);
}

TEST(JobExplanation, ReportsALimitThatOnlyWholeNodesExceed) {
  TestCluster cluster = with_cpu_limit(2);
  JobSpec spec = TestCluster::spec(2, 2);
  spec.user = "u";
  spec.account = "chem";
  spec.exclusive = true;
  spec.time_limit = minutes(5);
  const JobExplanation told = why(cluster, cluster.submit(spec));
  EXPECT_FALSE(told.starts_now);
  EXPECT_EQ(cause(told, Reason::limit), "GrpTRES of chem is cpu=2, 0 in use, the job would get 8");
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_EQ(told.causes[0].limit, "AssocGrpCpuLimit");
  EXPECT_FALSE(told.start) << "it cannot start, however long it waits";
  spec.exclusive = false;
  EXPECT_TRUE(why(cluster, cluster.submit(spec)).starts_now);
}

TEST(JobExplanation, ReportsALimitThatTheRequestExceedsOnce) {
  TestCluster cluster = with_cpu_limit(2);
  JobSpec spec = on(3, minutes(5));
  spec.user = "u";
  spec.account = "chem";
  spec.exclusive = true;
  const JobExplanation told = why(cluster, cluster.submit(spec));
  ASSERT_EQ(told.causes.size(), 1u);
  EXPECT_EQ(told.causes[0].text, "GrpTRES of chem is cpu=2, 0 in use, the job asks for 3");
}

TEST(JobExplanation, ReportsPartitionsThatAreDownAndArrayThrottles) {
  TestCluster cluster = nodes(2);
  JobSpec spec = on(1, minutes(30));
  spec.array.emplace().insert(0, 4);
  spec.array_throttle = 1;
  Job array = cluster.job(spec);
  array.array->holding = 1;
  cluster.put(array);
  JobExplanation told = why(cluster, array.key);
  EXPECT_THAT(cause(told, Reason::job_array_task_limit), HasSubstr("as many tasks"));
  EXPECT_THAT(changes(told), ElementsAre("with 2 tasks of the array at a time"));
  Partition main = cluster.partition();
  main.up = false;
  cluster.put(main);
  told = why(cluster, array.key);
  EXPECT_EQ(cause(told, Reason::partition_down), "partition main is down");
  EXPECT_THAT(changes(told), IsEmpty());
}

TEST(JobExplanation, UnavailableNodesAreCounted) {
  TestCluster cluster = nodes(4);
  Node node = cluster.node("n1");
  node.admin = AdminState::drain;
  cluster.put(node);
  node = cluster.node("n2");
  node.contact = Contact::lost;
  cluster.put(node);
  node = cluster.node("n3");
  node.inventory.features = {"fast"};
  cluster.put(node);
  JobSpec spec = on(4, minutes(10));
  spec.features = {"fast"};
  run(cluster, spec);
  EXPECT_THAT(cause(why(cluster, cluster.submit(on(4, minutes(10)))), Reason::resources), "")
      << "n4 is free";
  const JobExplanation fast = why(cluster, cluster.submit(spec));
  EXPECT_THAT(cause(fast, Reason::resources),
              HasSubstr("of the partition's 4 nodes 3 are excluded or without the features"));
  JobSpec two = TestCluster::spec(2, 2);
  two.cpus_per_task = 4;
  two.time_limit = minutes(10);
  EXPECT_THAT(cause(why(cluster, cluster.submit(two)), Reason::resources),
              AllOf(HasSubstr("1 drained"), HasSubstr("1 not responding")));
}

TestCluster fabric() {
  TestCluster cluster = nodes(4);
  NetworkSpec network{
      "net", NetworkKind::block, {{"a", {"n1", "n2"}, {}}, {"b", {"n3", "n4"}, {}}}};
  cluster.policy.networks = std::vector{network};
  Partition main = cluster.partition();
  main.topology = "net";
  cluster.put(main);
  return cluster;
}

TEST(JobExplanation, NetworkLimitsAreExplained) {
  TestCluster cluster = fabric();
  run_on(cluster, "n1", 4, minutes(60));
  run_on(cluster, "n3", 4, minutes(60));
  JobSpec spec = TestCluster::spec(2, 2);
  spec.time_limit = minutes(30);
  spec.switches = 1;
  const JobKey near = cluster.submit(spec);
  const JobExplanation told = why(cluster, near);
  EXPECT_THAT(cause(told, Reason::resources),
              HasSubstr("under 1 leaf switch at most 1 node has room for a share"));
  EXPECT_THAT(changes(told), ElementsAre("--nodes=1 --ntasks=1", "--switches=2"));
  Explainer explainer(cluster.state, cluster.policy);
  EXPECT_THAT(explainer.explain(*cluster.state.jobs.find(near), kNow).detail,
              HasSubstr("at most 1 node has room for a share"));
  cluster.put([&] {
    Job job = *cluster.state.jobs.find(near);
    job.state = JobState::cancelled;
    return job;
  }());
  spec.switches = 0;
  spec.segment = 2;
  const JobExplanation segments = why(cluster, cluster.submit(spec));
  EXPECT_THAT(cause(segments, Reason::resources), HasSubstr("room for 0 whole segments, 1 needed"));
  EXPECT_THAT(changes(segments), ElementsAre("--segment=1"));
}

TEST(JobExplanation, JobThatIsAboutToStartIsReported) {
  TestCluster cluster = nodes(1);
  const JobExplanation told = why(cluster, cluster.submit(on(1, minutes(10))));
  EXPECT_TRUE(told.starts_now);
  EXPECT_THAT(told.causes, IsEmpty());
  EXPECT_THAT(told.changes, IsEmpty());
}

TEST(JobExplanation, WithoutBackfillNoSuggestionPassesAnotherJob) {
  TestCluster cluster = nodes(1);
  cluster.policy.backfill.kind = BackfillKind::none;
  run_on(cluster, "n1", 3, minutes(60));
  cluster.submit(on(4, minutes(60)));
  const JobExplanation told = why(cluster, cluster.submit(on(1, minutes(10))));
  EXPECT_THAT(cause(told, Reason::priority),
              HasSubstr("no job passes those that wait before it, first job 2"));
  EXPECT_THAT(changes(told), IsEmpty());
}

TEST(JobExplanation, EachOfSeveralPartitionsIsExplained) {
  TestCluster cluster = nodes(2);
  Partition main = cluster.partition(), other = main;
  main.nodes = {"n1"};
  other.name = "other";
  other.nodes = {"n2"};
  other.max_time = minutes(10);
  cluster.put(main);
  cluster.put(other);
  run_on(cluster, "n1", 4, minutes(60));
  JobSpec spec = on(1, minutes(30));
  spec.partitions = {"main", "other"};
  const JobExplanation told = why(cluster, cluster.submit(spec));
  ASSERT_EQ(told.causes.size(), 2u);
  EXPECT_EQ(told.causes[0].partition, "main");
  EXPECT_EQ(told.causes[1].partition, "other");
  EXPECT_EQ(told.causes[1].reason, Reason::partition_time_limit);
  EXPECT_THAT(changes(told), ElementsAre("--time=00:10:00"));
}

TEST(JobExplanation, ReportsTheComputedPriorityAndItsFactors) {
  TestCluster cluster = nodes(1);
  auto rules = std::make_shared<Fairness>();
  rules->policy = QueuePolicy::multifactor;
  rules->weights.age = 1000;
  rules->max_age = hours(2);
  cluster.policy.fairness.value = rules;
  run_on(cluster, "n1", 4, minutes(60));
  const JobExplanation told = why(cluster, cluster.submit(on(1, minutes(30))));
  EXPECT_EQ(told.priority.policy, QueuePolicy::multifactor);
  EXPECT_EQ(told.priority.value, 500u);
  ASSERT_EQ(told.priority.factors.size(), 9u);
  EXPECT_EQ(told.priority.factors[1].name, "AGE");
  EXPECT_DOUBLE_EQ(told.priority.factors[1].value, 0.5);
  EXPECT_DOUBLE_EQ(told.priority.factors[1].weighted, 500);
}

TEST(JobExplanation, IncompleteSearchIsReported) {
  TestCluster cluster = nodes(1);
  run_on(cluster, "n1", 3, minutes(60));
  const JobKey key = cluster.submit(on(4, minutes(60)));
  const JobExplanation told =
      explain_job(cluster.state, cluster.policy, *cluster.state.jobs.find(key), nullptr, kNow,
                  {.what_if_units = 2});
  EXPECT_TRUE(told.cut);
}

}  // namespace
}  // namespace ares::core::sched
