// Tests: agent, idle_gpus
// Which GPUs and CPUs an agent gives to jobs.
#include "node/agent.h"

#include <gtest/gtest.h>

#include "unit/node/world.h"

namespace ares::node {
namespace {

// Regression: drivers number only the GPUs whose device files a job can open, so a job with the GPUs 1
// and 3 and CUDA_VISIBLE_DEVICES=1,3 had one GPU, or none.
TEST(Agent, GpusOfAConfinedJobAreNumberedFromZero) {
  for (const auto& [enforced, seen] : std::map<std::string, std::vector<std::string>>{
           {"cpus,memory", {}}, {"cpus,memory,devices", {"0", "1"}}}) {
    World world;
    world.enforced = enforced;
    world.restart_daemon();
    world.welcome();
    Prepare prepare = make_prepare(world);
    prepare.launch.share.gpus = {GpuIndex(1), GpuIndex(3)};
    world.tell(prepare);
    const Result<StepSpec> spec =
        decode_step_spec(world.disk.directories.at(kKey)->records.at(Record::spec));
    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->visible_gpus, seen) << enforced;
  }
}

TEST(Agent, AStepKnowsTheCpusNearToItsGpus) {
  World world;
  world.gpus = 3;
  world.restart_daemon();
  world.welcome();
  Prepare prepare = make_prepare(world);
  prepare.launch.share.gpus = {GpuIndex(1), GpuIndex(2)};
  world.tell(prepare);
  const Result<StepSpec> spec =
      decode_step_spec(world.disk.directories.at(kKey)->records.at(Record::spec));
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->gpu_cpus, (std::vector<IntervalSet>{*parse_interval_set("2-3"), {}}));
}

TEST(Agent, AJobWithoutChosenCpusGetsNoneThatAreSetAside) {
  World world;
  world.offered_cpus.insert(2, 5);
  world.restart_daemon();
  world.welcome();
  Prepare prepare = make_prepare(world);
  prepare.launch.share.cpu_ids.clear();
  world.tell(prepare);
  const Result<StepSpec> spec =
      decode_step_spec(world.disk.directories.at(kKey)->records.at(Record::spec));
  ASSERT_TRUE(spec);
  EXPECT_EQ(usable_cpus(spec->launch.share, spec->binding),
            (std::vector<std::uint32_t>{2, 3, 4, 5}));
}

// A node with two GPUs, whose looks the test answers.
struct LookedAt {
  LookedAt() {
    world.gpus = 2;
    world.look_at_gpus = [this] { ++looks; };
    world.restart_daemon();
    world.welcome();
  }
  void see(const GpuLook& look) {
    world.agent().gpus_looked_at(look, world.now);
    world.settle();
  }
  void prepare(std::vector<GpuIndex> gpus) {
    Prepare prepare = make_prepare(world);
    prepare.launch.share.gpus = std::move(gpus);
    world.tell(prepare);
    world.settle();
  }
  void run_and_end() {
    world.tell(Go{kKey, Fence(50)});
    world.settle();
    world.end_task(kKey, 0);
    world.settle();
  }
  std::string fault() const {
    std::string text = "none was told";
    for (const FromNode& message : world.sent)
      if (const auto* beat = std::get_if<Heartbeat>(&message.body)) text = beat->fault;
    return text;
  }

  World world;
  int looks = 0;
};

TEST(Agent, StartsNoJobBeforeItsGpusWereLookedAt) {
  LookedAt node;
  EXPECT_EQ(node.looks, 1) << "when the daemon starts";
  node.prepare({GpuIndex(1)});
  EXPECT_FALSE(node.world.report(kKey));
  node.see({});
  EXPECT_EQ(node.world.phase(kKey), AttemptPhase::ready);
  node.run_and_end();
  EXPECT_EQ(node.looks, 2) << "when its GPUs are free again";
}

TEST(Agent, RefusesAJobWhoseGpuIsNotCleanAndTellsItUntilItIs) {
  LookedAt node;
  node.world.advance(std::chrono::seconds(10));
  node.see(std::map<GpuIndex, std::string>{{GpuIndex(1), "process 7 (x) uses it"}});
  EXPECT_EQ(node.fault(), "GPU 1 is not clean: process 7 (x) uses it");
  node.prepare({GpuIndex(1)});
  const auto refused = sent<LaunchRefused>(node.world);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_TRUE(refused[0].node_fault);
  EXPECT_EQ(refused[0].cause, "GPU 1 is not clean: process 7 (x) uses it");
  EXPECT_EQ(node.world.starts[kKey], 0);
  const int before = node.looks;
  node.world.advance(std::chrono::seconds(10));
  EXPECT_EQ(node.looks, before + 1) << "it looks again by itself";
  node.see({});
  EXPECT_EQ(node.fault(), "");
}

TEST(Agent, AJobOfACleanGpuStartsBesideOneThatIsNot) {
  LookedAt node;
  node.world.advance(std::chrono::seconds(10));
  node.see(std::map<GpuIndex, std::string>{{GpuIndex(1), "process 7 (x) uses it"}});
  node.prepare({GpuIndex(0)});
  EXPECT_EQ(node.world.phase(kKey), AttemptPhase::ready);
}

TEST(Agent, AHeldJobThatIsKilledNeverRuns) {
  LookedAt node;
  node.prepare({GpuIndex(0)});
  node.world.tell(Kill{kKey, Fence(50), true});
  node.see({});
  EXPECT_EQ(node.world.phase(kKey), AttemptPhase::never_ran);
  EXPECT_EQ(node.world.starts[kKey], 0);
}

TEST(Agent, AHeldJobIsForgottenWithItsSession) {
  LookedAt node;
  node.prepare({GpuIndex(0)});
  node.world.agent().disconnected();
  node.see({});
  EXPECT_FALSE(node.world.report(kKey));
  EXPECT_TRUE(node.world.disk.directories.empty());
}

TEST(Agent, GpusOfAJobThatRunsOnAreNotLookedAt) {
  LookedAt node;
  node.see({});
  node.prepare({GpuIndex(0), GpuIndex(1)});
  node.world.tell(Go{kKey, Fence(50)});
  node.world.settle();
  node.world.restart_daemon();
  node.world.welcome();
  const int before = node.looks;
  node.world.advance(std::chrono::minutes(5));
  EXPECT_EQ(node.looks, before);
  EXPECT_EQ(node.world.phase(kKey), AttemptPhase::running);
}

}  // namespace
}  // namespace ares::node
