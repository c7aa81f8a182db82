// Spare nodes: what is asked for, what the script is told, and the return after a node has failed.
#include "core/cluster/spare_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JobSpec with_spare(std::uint32_t nodes = 2, std::uint32_t spare = 1) {
  JobSpec s = Cluster::spec();
  s.min_nodes = s.max_nodes = nodes;
  s.tasks = 2 * nodes;
  s.spare_nodes = spare;
  return s;
}

void lose(Cluster& c, int node) {
  c.now += Seconds{1000};
  for (int n = 1; n <= 4; ++n)
    if (n != node) c.from_node(n, Heartbeat{});
  c.run({NodeSilent{c.id_of(node), c.now - Seconds{1000}}});
}

TEST(SpareNodes, JobAsksForThemBesidesItsNodes) {
  Cluster c;
  const JobKey key = c.submit(with_spare());
  const JobSpec& spec = *c.job(key).spec;
  EXPECT_EQ(spec.min_nodes, 3u);
  EXPECT_EQ(spec.max_nodes, 3u);
  EXPECT_EQ(spec.tasks, 6u);
  EXPECT_EQ(spec.tasks_per_node, 2u);
  c.plan({c.group(key, {1, 2})});
  EXPECT_EQ(c.job(key).state, JobState::pending) << "one node is missing";
  c.allocate(key, {1, 2, 3});
}

TEST(SpareNodes, ScriptIsToldOnlyOfTheOthers) {
  Cluster c;
  const JobKey key = c.submit(with_spare());
  c.allocate(key, {1, 2, 3});
  const Prepare* first = c.last_sent<Prepare>(1);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->launch.layout->names, ElementsAre("n1", "n2"));
  EXPECT_EQ(first->launch.spec->tasks, 4u);
  EXPECT_EQ(first->launch.spec->min_nodes, 2u);
  const Prepare* spare = c.last_sent<Prepare>(3);
  ASSERT_TRUE(spare) << "it belongs to the allocation";
  EXPECT_EQ(spare->launch.rank, 2u);
  EXPECT_EQ(spare->launch.node_name, "n3");
}

TEST(SpareNodes, ReplaceAFailedNodeAtOnce) {
  Cluster c;
  const JobKey key = c.submit(with_spare());
  c.start(key, {1, 2, 3});
  lose(c, 2);
  for (int n : {1, 3}) c.progress(n, key, AttemptPhase::done);
  ASSERT_EQ(c.job(key).state, JobState::pending);
  ASSERT_TRUE(c.job(key).expedited);
  EXPECT_THAT(c.job(key).expedited->nodes, ElementsAre(c.id_of(1), c.id_of(3)));
  c.forget_sent();
  c.allocate(key, {1, 3});
  EXPECT_THAT(c.last_sent<Prepare>(1)->launch.layout->names, ElementsAre("n1", "n3"));
  c.progress(1, key, AttemptPhase::ready);
  c.progress(3, key, AttemptPhase::ready);
  EXPECT_EQ(c.job(key).state, JobState::running);
}

TEST(SpareNodes, ReturnHasAtLeastTheNodesThatWereAskedFor) {
  Cluster c;
  const JobKey key = c.submit(with_spare());
  c.start(key, {1, 2, 3});
  lose(c, 2);
  for (int n : {1, 3}) c.progress(n, key, AttemptPhase::done);
  c.plan({c.group(key, {1})});
  EXPECT_EQ(c.job(key).state, JobState::pending);
}

TEST(SpareNodes, LossOfASpareNodeDoesNotEndTheAttempt) {
  Cluster c;
  const JobKey silent = c.submit(with_spare());
  c.start(silent, {1, 2, 3});
  lose(c, 3);
  EXPECT_EQ(c.job(silent).state, JobState::running);
  for (int n : {1, 2}) c.progress(n, silent, AttemptPhase::done);
  EXPECT_EQ(c.job(silent).state, JobState::completed);

  Cluster d;
  const JobKey lost = d.submit(with_spare());
  d.start(lost, {1, 2, 3});
  d.progress(3, lost, AttemptPhase::lost);
  EXPECT_EQ(d.job(lost).state, JobState::running);
  d.progress(2, lost, AttemptPhase::lost);
  EXPECT_EQ(d.job(lost).state, JobState::completing);
  d.progress(1, lost, AttemptPhase::done);
  EXPECT_EQ(d.job(lost).state, JobState::pending);
}

TEST(SpareNodes, ScriptThatFailsEndsTheJob) {
  Cluster c;
  const JobKey key = c.submit(with_spare());
  c.start(key, {1, 2, 3});
  for (int n : {1, 2, 3}) c.progress(n, key, AttemptPhase::done, 1);
  EXPECT_EQ(c.job(key).state, JobState::failed);
}

TEST(SpareNodes, RequestsThatTheyDoNotFitAreRefused) {
  Cluster c;
  const auto refused = [&](auto&& change) {
    JobSpec s = with_spare();
    change(s);
    const Reply reply = c.try_submit(s);
    EXPECT_TRUE(reply.failed);
    return reply.error.message;
  };
  EXPECT_THAT(refused([](JobSpec& s) { s.max_nodes = 3; }), HasSubstr("one number of nodes"));
  EXPECT_THAT(refused([](JobSpec& s) { s.tasks = 3; }), HasSubstr("same number of tasks"));
  EXPECT_THAT(refused([](JobSpec& s) { s.requeue = false; }), HasSubstr("--no-requeue"));
  EXPECT_THAT(refused([](JobSpec& s) { s.required_nodes = {"n1"}; }), HasSubstr("-w"));
  EXPECT_THAT(refused([](JobSpec& s) { s.gpus_total = {{"a100", 2}}; }), HasSubstr("in total"));
  EXPECT_THAT(refused([](JobSpec& s) { s.segment = 2; }), HasSubstr("--segment"));
  EXPECT_THAT(refused([](JobSpec& s) { s.spare_nodes = 3; }), HasSubstr("nodes"))
      << "more than there are";
  EXPECT_THAT(refused([](JobSpec& s) { s.spare_nodes = 4'000'000'000; }), HasSubstr("at most"));
}

TEST(SpareNodes, NumbersOfNodesAndTasksCannotBeChanged) {
  Cluster c;
  const JobKey key = c.submit(with_spare());
  JobSpec values = *c.job(key).spec;
  values.min_nodes = values.max_nodes = 2;
  UpdateJob update;
  update.jobs = Cluster::named(key);
  update.values = std::make_shared<const JobSpec>(values);
  update.fields = {"min_nodes", "max_nodes"};
  const Reply reply = c.user(kAlice, update);
  EXPECT_TRUE(reply.failed);
  EXPECT_THAT(reply.error.message, HasSubstr("--spare-nodes cannot be changed"));
}

}  // namespace
}  // namespace ares::core
