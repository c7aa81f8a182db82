#include "aresd/gpus/gpu_look.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

namespace ares::aresd {
namespace {

using Unclean = std::map<GpuIndex, std::string>;

gres::FoundMachine machine() {
  gres::FoundMachine found;
  for (std::uint16_t i = 0; i < 3; ++i) {
    gres::FoundGpu gpu;
    gpu.index = i;
    gpu.uuid = "GPU-" + std::to_string(i);
    found.gpus.push_back(gpu);
  }
  return found;
}

GpuLookSetup setup() {
  GpuLookSetup setup;
  setup.gpus = {{GpuIndex(0), "GPU-0"}, {GpuIndex(1), "GPU-1"}, {GpuIndex(2), "GPU-2"}};
  setup.idle_memory = Bytes::gib(1);
  return setup;
}

TEST(GpuLook, AProcessOrMuchUsedMemoryMakesAGpuUnclean) {
  gres::FoundMachine found = machine();
  found.gpus[0].use.memory = Bytes::gib(1);
  found.gpus[1].use.memory = Bytes::gib(2);
  const auto own = static_cast<std::uint32_t>(::getpid());
  found.gpus[2].use.processes = {own};
  const Unclean unclean = unclean_gpus(setup(), found);
  ASSERT_EQ(unclean.size(), 2u);
  EXPECT_EQ(unclean.at(GpuIndex(1)), "more than 1G of its memory is in use (gpu_idle_memory)");
  EXPECT_EQ(unclean.at(GpuIndex(2)), "process " + std::to_string(own) + " (test_aresd) of uid " +
                                         std::to_string(::getuid()) + " uses it");
}

TEST(GpuLook, ProgramsOfTheSystemAndProcessesThatHaveEndedDoNotCount) {
  gres::FoundMachine found = machine();
  found.gpus[0].use.processes = {static_cast<std::uint32_t>(::getpid())};
  found.gpus[1].use.processes = {0xfffffff0};
  GpuLookSetup with = setup();
  with.system_programs = {"test_aresd"};
  EXPECT_EQ(unclean_gpus(with, found), Unclean());
}

TEST(GpuLook, InstancesAreLookedAtByThemselves) {
  gres::FoundMachine found = machine();
  found.gpus[0].partitioned = true;
  found.gpus[0].use.memory = Bytes::gib(20);
  for (const char* name : {"MIG-a", "MIG-b"}) {
    gres::FoundInstance instance;
    instance.uuid = name;
    found.gpus[0].instances.push_back(instance);
  }
  found.gpus[0].instances[1].use.memory = Bytes::gib(20);
  GpuLookSetup with = setup();
  with.gpus = {{GpuIndex(0), "MIG-a"}, {GpuIndex(1), "MIG-b"}};
  const Unclean unclean = unclean_gpus(with, found);
  ASSERT_EQ(unclean.size(), 1u);
  EXPECT_TRUE(unclean.contains(GpuIndex(1)));
}

// There the kernel keeps files in the memory of the GPU.
TEST(GpuLook, MemoryThatIsANumaNodeDoesNotCount) {
  gres::FoundMachine found = machine();
  found.gpus[0].own_numa.insert(2);
  found.gpus[0].use.memory = Bytes::gib(90);
  EXPECT_EQ(unclean_gpus(setup(), found), Unclean());
}

TEST(GpuLook, SourcesWithoutADriverAreNotLookedAt) {
  for (const char* source : {"nvml", "amd", "auto"}) EXPECT_TRUE(is_looked_at(source));
  for (const char* source : {"", "pci", "/etc/gpus.json"}) EXPECT_FALSE(is_looked_at(source));
}

TEST(GpuLook, AnswersWhenItIsAskedAndEndsAtOnce) {
  std::mutex mutex;
  std::condition_variable told;
  int answers = 0;
  GpuLookSetup with = setup();
  with.source = "/no/such/file";
  GpuLook look(with, [&](const node::GpuLook& seen) {
    EXPECT_FALSE(seen);
    const std::lock_guard lock(mutex);
    ++answers;
    told.notify_all();
  });
  for (int wanted = 1; wanted <= 2; ++wanted) {
    look.ask();
    std::unique_lock lock(mutex);
    ASSERT_TRUE(told.wait_for(lock, std::chrono::seconds(60), [&] { return answers == wanted; }));
  }
}

}  // namespace
}  // namespace ares::aresd
