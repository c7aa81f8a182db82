// Tests: admit, pass_waiting, reason_text
// The reasons of jobs that cannot start.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sched/four_nodes.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

struct ReasonCase {
  const char* name;
  std::function<void(TestCluster&, JobSpec&, Job&)> set_up;
  Reason reason;
};

class PendingReason : public testing::TestWithParam<ReasonCase> {};

TEST_P(PendingReason, IsReported) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  Job scratch;
  GetParam().set_up(cluster, spec, scratch);
  Job job = cluster.job(spec);
  job.hold = scratch.hold;
  job.waiting_for = scratch.waiting_for;
  job.dependency_failed = scratch.dependency_failed;
  job.not_before = scratch.not_before;
  const JobKey key = job.key;
  cluster.put(job);
  const Plan plan = cluster.plan();
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(reason_of(plan, key), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, PendingReason,
    testing::Values(
        ReasonCase{"held_by_user", [](auto&, auto&, Job& j) { j.hold = Hold::user; },
                   Reason::job_held_user},
        ReasonCase{"held_by_admin", [](auto&, auto&, Job& j) { j.hold = Hold::admin; },
                   Reason::job_held_admin},
        ReasonCase{"dependency", [](auto&, auto&, Job& j) { j.waiting_for.push_back({}); },
                   Reason::dependency},
        ReasonCase{"dependency_failed", [](auto&, auto&, Job& j) { j.dependency_failed = true; },
                   Reason::dependency_never_satisfied},
        ReasonCase{"begin", [](auto&, JobSpec& s, Job&) { s.begin = kNow + minutes(5); },
                   Reason::begin_time},
        ReasonCase{"back_off", [](auto&, auto&, Job& j) { j.not_before = kNow + minutes(5); },
                   Reason::begin_time},
        ReasonCase{"partition_down",
                   [](TestCluster& c, auto&, auto&) {
                     Partition p = c.partition();
                     p.up = false;
                     c.put(p);
                   },
                   Reason::partition_down},
        ReasonCase{"partition_time",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Partition p = c.partition();
                     p.max_time = minutes(10);
                     c.put(p);
                     s.time_limit = minutes(11);
                   },
                   Reason::partition_time_limit},
        ReasonCase{"no_limit_in_limited_partition",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Partition p = c.partition();
                     p.max_time = minutes(10);
                     c.put(p);
                     s.time_limit = Seconds(0);
                   },
                   Reason::partition_time_limit},
        ReasonCase{"partition_nodes",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Partition p = c.partition();
                     p.max_nodes = 1;
                     c.put(p);
                     s.min_nodes = s.max_nodes = 2;
                   },
                   Reason::partition_node_limit},
        ReasonCase{"no_such_partition", [](auto&, JobSpec& s, auto&) { s.partitions = {"gone"}; },
                   Reason::invalid_partition},
        ReasonCase{"too_many_cpus", [](auto&, JobSpec& s, auto&) { s.cpus_per_task = 5; },
                   Reason::bad_constraints},
        ReasonCase{"unknown_feature", [](auto&, JobSpec& s, auto&) { s.features = {"fast"}; },
                   Reason::bad_constraints},
        ReasonCase{"unknown_gpu",
                   [](auto&, JobSpec& s, auto&) {
                     s.gpus_per_node = {{"b200", 1}};
                   },
                   Reason::bad_constraints},
        ReasonCase{"unknown_node", [](auto&, JobSpec& s, auto&) { s.required_nodes = {"n9"}; },
                   Reason::req_node_not_avail},
        ReasonCase{"drained_node",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Node node = c.node("n1");
                     node.admin = AdminState::drain;
                     c.put(node);
                     s.required_nodes = {"n1"};
                   },
                   Reason::req_node_not_avail},
        ReasonCase{"all_lost",
                   [](TestCluster& c, auto&, auto&) {
                     for (const char* name : {"n1", "n2", "n3", "n4"}) {
                       Node node = c.node(name);
                       node.contact = Contact::lost;
                       c.put(node);
                     }
                   },
                   Reason::req_node_not_avail}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ares::core::sched
