// Jobs with alternative GPU requests, from submission to start: what is refused and which starts the engine accepts.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

// Each node has two GPUs of type a100.
JobSpec either() {
  JobSpec spec = Cluster::spec();
  spec.gpu_alternatives = {{{{"a100", 2}}, 1000}, {{{"a100", 1}}, 1500}};
  spec.gpus_per_node = spec.gpu_alternatives[0].gpus;
  return spec;
}

TEST(Alternatives, InvalidRequestsAreRefused) {
  const struct {
    const char* says;
    void (*change)(JobSpec&);
  } cases[] = {
      {"1 of them; there may be 2 to 8", [](JobSpec& s) { s.gpu_alternatives.edit().pop_back(); }},
      {"a100:1 is there twice",
       [](JobSpec& s) {
         s.gpu_alternatives[0] = s.gpu_alternatives[1];
         s.gpus_per_node = {{"a100", 1}};
       }},
      {"a cost must be above 0 and at most 1000",
       [](JobSpec& s) { s.gpu_alternatives[1].cost = 0; }},
      {"a cost must be above 0 and at most 1000",
       [](JobSpec& s) { s.gpu_alternatives[1].cost = 1'000'001; }},
      {"each must ask for at least one GPU",
       [](JobSpec& s) { s.gpu_alternatives[1].gpus.clear(); }},
      {"one of these, not several",
       [](JobSpec& s) {
         s.gpus_total = {{"a100", 2}};
       }},
      {"is none of them",
       [](JobSpec& s) {
         s.gpus_per_node = {{"a100", 3}};
       }},
      {"is none of them", [](JobSpec& s) { s.gpus_per_node.clear(); }},
      {"at most 1000000 can be asked for",
       [](JobSpec& s) {
         s.gpu_alternatives[1].gpus = {{"a100", 4'000'000'000}};
       }},
      {"a100:3: needs 3 a100 GPUs on one node; the most a node of partition main has is 2; or "
       "h100:1: "
       "needs 1 h100 GPU on one node",
       [](JobSpec& s) {
         s.gpu_alternatives = {{{{"a100", 3}}, 1000}, {{{"h100", 1}}, 1000}};
         s.gpus_per_node = {{"a100", 3}};
       }},
      {"GPU type", [](JobSpec& s) { s.gpu_alternatives[1].gpus[0].type = std::string(5000, 'x'); }},
  };
  Cluster c;
  for (const auto& bad : cases) {
    JobSpec spec = either();
    bad.change(spec);
    const Reply reply = c.try_submit(spec);
    EXPECT_TRUE(reply.failed) << bad.says;
    EXPECT_NE(reply.error.message.find(bad.says), std::string::npos) << reply.error.message;
  }
}

TEST(Alternatives, OnePossibleAlternativeIsSufficient) {
  Cluster c;
  JobSpec spec = either();
  spec.gpu_alternatives[0].gpus = spec.gpus_per_node = {{"b200", 8}};
  EXPECT_FALSE(c.try_submit(spec).failed);
}

// The engine checks the devices: it refuses a start that does not match the chosen alternative.
TEST(Alternatives, EngineAcceptsOnlyRequestedDevices) {
  const struct {
    std::uint32_t alternative;
    std::vector<GpuIndex> gpus;
    bool taken;
  } cases[] = {
      {0, {GpuIndex{0}, GpuIndex{1}}, true},  {1, {GpuIndex{1}}, true},  {0, {GpuIndex{0}}, false},
      {1, {GpuIndex{0}, GpuIndex{1}}, false}, {2, {GpuIndex{0}}, false}, {0, {}, false},
  };
  for (const auto& [alternative, gpus, taken] : cases) {
    Cluster c;
    const JobKey key = c.submit(either());
    TakePlan take;
    take.plan.groups = {c.group(key, {1})};
    Start& start = take.plan.groups[0].starts[0];
    start.alternative = alternative;
    start.nodes.change(0, [&taken_gpus = gpus](NodeShare& share) { share.gpus = taken_gpus; });
    c.run({take});
    const Job& job = *c.state().jobs.find(key);
    EXPECT_EQ(job.state == JobState::configuring, taken) << alternative << " " << gpus.size();
    if (taken) {
      ASSERT_TRUE(job.allocation);
      EXPECT_EQ(job.allocation->alternative, alternative);
      EXPECT_TRUE(check_invariants(c.state()).empty());
    }
  }
}

// With GPUs requested in total any node may have none of them, even the first.
TEST(Alternatives, GpusInTotalMayBeOnAnyOfTheNodes) {
  Cluster c;
  JobSpec spec = Cluster::spec();
  spec.min_nodes = spec.max_nodes = spec.tasks = 2;
  spec.gpus_total = {{"h100", 1}};
  spec.alternatives_per = GpusPer::job;
  spec.gpu_alternatives = {{{{"h100", 1}}, 1000}, {{{"", 2}}, 1000}};
  const JobKey key = c.submit(spec);
  TakePlan take;
  take.plan.groups = {c.group(key, {1, 2})};
  take.plan.groups[0].starts[0].alternative = 1;
  take.plan.groups[0].starts[0].nodes.change(1, [&](NodeShare& share) {
    share.gpus = {GpuIndex{0}, GpuIndex{1}};
  });
  c.run({take});
  EXPECT_EQ(c.state().jobs.find(key)->state, JobState::configuring);
  EXPECT_TRUE(check_invariants(c.state()).empty());
}

// An exclusive job gets all GPUs of the node, which are more than it requested.
TEST(Alternatives, ExclusiveJobGetsAllGpusOfTheNode) {
  Cluster c;
  JobSpec spec = either();
  spec.exclusive = true;
  const JobKey key = c.submit(spec);
  TakePlan take;
  take.plan.groups = {c.group(key, {1}, 4)};
  take.plan.groups[0].starts[0].alternative = 1;
  take.plan.groups[0].starts[0].nodes.change(0, [&](NodeShare& share) {
    share.gpus = {GpuIndex{0}, GpuIndex{1}};
  });
  c.run({take});
  EXPECT_EQ(c.state().jobs.find(key)->state, JobState::configuring);
  EXPECT_TRUE(check_invariants(c.state()).empty());
}

TEST(Alternatives, StartWithAnUnknownAlternativeIsRefused) {
  Cluster c;
  const JobKey key = c.submit();
  TakePlan take;
  take.plan.groups = {c.group(key, {1})};
  take.plan.groups[0].starts[0].alternative = 1;
  c.run({take});
  EXPECT_EQ(c.state().jobs.find(key)->state, JobState::pending);
}

TEST(Alternatives, UpdateReplacesAlternatives) {
  Cluster c;
  const JobKey key = c.submit(either());
  UpdateJob update;
  update.jobs = Cluster::named(key);
  auto values = std::make_shared<JobSpec>();
  values->gpus_per_node = {{"a100", 1}};
  update.fields = {"gpus_per_node", "gpu_alternatives", "alternatives_per"};
  update.values = values;
  EXPECT_FALSE(c.user(kAlice, update).failed);
  EXPECT_TRUE(c.state().jobs.find(key)->spec->gpu_alternatives.empty());
  update.fields = {"gpus_per_node"};
  update.jobs = Cluster::named(c.submit(either()));
  EXPECT_FALSE(c.user(kAlice, update).failed) << "a100:1 is one of them";
  values->gpus_per_node = {{"a100", 3}};
  const Reply reply = c.user(kAlice, update);
  EXPECT_TRUE(reply.failed);
}

}  // namespace
}  // namespace ares::core
