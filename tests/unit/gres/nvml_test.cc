// Tests: nvml/api, nvml/discover, nvml/health, nvml/library, nvml/links, nvml/mig, nvml/use
// The code that loads NVIDIA's library, against the stand-ins of tests/nvml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gres/found/offer.h"
#include "gres/nvml/mig.h"
#include "unit/gres/stub.h"

namespace ares::gres {
namespace {

using core::topology::format_link;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string links_of(const FoundMachine& machine) {
  std::string text;
  for (std::size_t a = 0; a < machine.devices(); ++a)
    for (std::size_t b = a + 1; b < machine.devices(); ++b)
      text +=
          (text.empty() ? "" : " ") + (machine.link(a, b) ? format_link(*machine.link(a, b)) : "?");
  return text;
}

TEST(Nvml, FindsWhatTheDriverKnowsOfAGpu) {
  const auto found = found_by_nvml(machine_json(2, "NV12"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->source, "nvml");
  EXPECT_EQ(found->driver, "550.54.15");
  ASSERT_EQ(found->gpus.size(), 2u);
  const FoundGpu& gpu = found->gpus[1];
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.type, "a100");
  EXPECT_EQ(gpu.name, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.memory, Bytes::gib(80));
  EXPECT_EQ(gpu.bus_id, "0000:11:00.0");
  EXPECT_EQ(gpu.minor, 0u) << "it is not the index";
  EXPECT_THAT(gpu.devices, ElementsAre("/dev/nvidia0"));
  EXPECT_EQ(format_interval_set(gpu.cpus), "4-7");
  EXPECT_EQ(format_interval_set(gpu.numa), "0");
  EXPECT_TRUE(gpu.problem.empty() && gpu.notes.empty() && !gpu.partitioned);
  EXPECT_EQ(links_of(*found), "NV12");
  EXPECT_THAT(found->notes, ElementsAre(HasSubstr("nvmlDeviceGetAttributes_v2")));
}

TEST(Nvml, WhatUsesAGpuIsFound) {
  std::string json = machine_json(2, "NV12");
  const std::string key = R"("index": 1)";
  ASSERT_NE(json.find(key), std::string::npos);
  json.replace(json.find(key), key.size(),
               key + R"(, "memory_used_bytes": 5368709120, "processes": [4711, 815])");
  for (const char* library : {ARES_NVML, ARES_NVML_OLD}) {
    const auto found = found_by_nvml(json, "", library);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(found->gpus[0].use.processes, IsEmpty());
    EXPECT_THAT(found->gpus[1].use.processes, ElementsAre(4711, 815));
    // Old drivers do not say how much of it they keep for themselves.
    const bool apart = std::string(library) == ARES_NVML;
    EXPECT_EQ(found->gpus[1].use.memory, Bytes::mib(5120 + (apart ? 0 : 600)));
    EXPECT_EQ(found->gpus[0].use.memory, Bytes::mib(apart ? 0 : 600));
  }
}

TEST(Nvml, PathsOverPcieAreThoseOfTheDriver) {
  for (const char* path : {"PIX", "PXB", "PHB", "NODE", "SYS"})
    EXPECT_EQ(links_of(*found_by_nvml(machine_json(2, path))), path);
}

TEST(Nvml, LinksToSwitchesJoinAllGpus) {
  EXPECT_EQ(links_of(*found_by_nvml(machine_json(3, "NV6"), R"("nvswitch": true)")), "NV6 NV6 NV6");
}

TEST(Nvml, SwitchesThatAreNotSetUpJoinNothing) {
  const auto found = found_by_nvml(machine_json(2, "NV18"), R"("nvswitch": true, "fabric": false)");
  EXPECT_EQ(links_of(*found), "NODE");
  EXPECT_THAT(found->gpus[1].notes, ElementsAre(HasSubstr("does the fabric manager run?")));
}

// Two groups of GPUs, each with switches of its own.
TEST(Nvml, SwitchesJoinOnlyGpusThatCanCopyByThem) {
  std::string json = machine_json(4, "NV18");
  json = json.substr(0, json.find("\"links\"")) +
         R"("links": [["X", "NV18", "SYS", "SYS"], ["NV18", "X", "SYS", "SYS"],
                      ["SYS", "SYS", "X", "NV18"], ["SYS", "SYS", "NV18", "X"]]})";
  const auto found = found_by_nvml(json, R"("nvswitch": true)");
  EXPECT_EQ(links_of(*found), "NV18 SYS SYS SYS SYS NV18");
  EXPECT_THAT(found->gpus[0].notes, IsEmpty());
}

// Its library has other names, a smaller structure for addresses, and does not know of switches.
TEST(Nvml, OldDriversAreUnderstood) {
  const auto found = found_by_nvml(machine_json(3, "NV2"), "", ARES_NVML_OLD);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(links_of(*found), "NV2 NV2 NV2");
  EXPECT_EQ(found->gpus[2].bus_id, "0000:12:00.0");
  EXPECT_EQ(format_interval_set(found->gpus[2].cpus), "8-11");
  EXPECT_TRUE(found->gpus[2].numa.empty());
  EXPECT_THAT(found->notes, ElementsAre(HasSubstr("nvmlDeviceGetMigMode")));
  EXPECT_EQ(links_of(*found_by_nvml(machine_json(3, "NV6"), R"("nvswitch": true)", ARES_NVML_OLD)),
            "NV6 NV6 NV6");
}

TEST(Nvml, LibrariesThatCannotBeUsedAreAReason) {
  const auto none = found_by_nvml(machine_json(1, ""), "", "libno-such-nvml.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("cannot load libno-such-nvml.so.1"));
  const auto empty = found_by_nvml(machine_json(1, ""), "", ARES_NVML_NOTHING);
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("has no nvmlInit_v2, nvmlShutdown"));
  const auto unloaded = found_by_nvml(machine_json(1, ""), R"("results": {"nvmlInit": 9})");
  ASSERT_FALSE(unloaded);
  EXPECT_EQ(unloaded.error().code, ErrorCode::not_found);
  EXPECT_THAT(unloaded.error().message, HasSubstr("Driver Not Loaded (9)"));
  const auto other = found_by_nvml(machine_json(1, ""), R"("results": {"nvmlInit": 18})");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("Driver/library version mismatch (18)"));
  const auto uncounted =
      found_by_nvml(machine_json(1, ""), R"("results": {"nvmlDeviceGetCount": 999})");
  ASSERT_FALSE(uncounted);
  EXPECT_THAT(uncounted.error().message, HasSubstr("cannot count the GPUs"));
}

TEST(Nvml, MachineWithoutGpusHasNone) {
  const auto found = found_by_nvml(R"({"format": 1, "gpus": []})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->gpus.empty());
}

TEST(Nvml, AGpuThatDoesNotAnswerIsFoundWithItsProblem) {
  const auto found =
      found_by_nvml(machine_json(4, "NV4"), R"("results": {"nvmlDeviceGetHandleByIndex 2": 15})");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->gpus.size(), 4u);
  EXPECT_THAT(found->gpus[2].problem, HasSubstr("GPU is lost (15)"));
  const Offer offered = offer(*found);
  ASSERT_EQ(offered.gpus.size(), 3u);
  EXPECT_EQ(offered.gpus[2].gpu.index, GpuIndex(3));
  EXPECT_EQ(offered.gpus[2].name, "GPU-3");
  EXPECT_TRUE(offered.only_names) << "the driver may count without the lost one";
  EXPECT_THAT(offered.left_out, ElementsAre(HasSubstr("GPU 2 is not offered: the driver cannot")));
  EXPECT_THAT(offered.topology.text(), HasSubstr("\tGPU0\tGPU1\tGPU3\t"));
}

TEST(Nvml, MemoryErrorsThatNeedAResetAreAProblem) {
  const auto found =
      found_by_nvml(machine_json(3, "NV4"),
                    R"("ecc": [0, 2, 0], "failed_rows": [0, 0, 1], "pending_rows": [1, 0, 0])");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->gpus[0].problem, "");
  EXPECT_THAT(found->gpus[0].notes, ElementsAre(HasSubstr("remapped at its next reset")));
  EXPECT_THAT(found->gpus[1].problem, HasSubstr("2 uncorrectable errors"));
  EXPECT_THAT(found->gpus[2].problem, HasSubstr("could not be remapped"));
  EXPECT_EQ(offer(*found).gpus.size(), 1u);
}

TEST(Nvml, FunctionsThatFailLeaveTheirValueUnknown) {
  const auto found =
      found_by_nvml(machine_json(2, "PIX"),
                    R"("results": {"nvmlDeviceGetUUID": 999, "nvmlDeviceGetMinorNumber": 3,
          "nvmlDeviceGetMemoryInfo 1": 999, "nvmlDeviceGetTopologyCommonAncestor": 999})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->gpus[0].uuid, "");
  EXPECT_EQ(found->gpus[0].minor, std::nullopt);
  EXPECT_THAT(found->gpus[0].devices, IsEmpty());
  EXPECT_EQ(found->gpus[0].memory, Bytes::gib(80));
  EXPECT_EQ(found->gpus[1].memory, Bytes());
  EXPECT_EQ(links_of(*found), "?");
  EXPECT_THAT(found->notes, testing::Contains(HasSubstr("the path between GPU 0 and GPU 1")));
}

constexpr std::string_view kMig = R"({"format": 1, "gpus": [
  {"index": 0, "name": "NVIDIA A100-SXM4-40GB", "uuid": "GPU-a", "minor": 0, "cpus": "0-7"},
  {"index": 1, "name": "NVIDIA A100-SXM4-40GB", "uuid": "GPU-b", "minor": 3, "cpus": "8-15", "instances": [
    {"uuid": "MIG-1", "profile": "3g.20gb", "memory_bytes": 20937965568, "gpu_instance": 1, "compute_instance": 0},
    {"uuid": "MIG-2", "profile": "1g.5gb+me", "gpu_instance": 9, "compute_instance": 0}]}],
  "links": [["X", "NV12"], ["NV12", "X"]]})";

TEST(Nvml, InstancesOfMigAreFoundWithTheirDeviceFiles) {
  const Folder root;
  const std::string caps = "proc/driver/nvidia/capabilities/gpu3/mig/gi1";
  root.write(caps + "/access", "DeviceFileMinor: 12\nDeviceFileMode: 256\n");
  root.write(caps + "/ci0/access", "DeviceFileMinor: 13\nDeviceFileMode: 256\n");
  const auto found = found_by_nvml(std::string(kMig), "", ARES_NVML, root.path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->gpus[0].partitioned);
  EXPECT_TRUE(found->gpus[1].partitioned);
  ASSERT_EQ(found->gpus[1].instances.size(), 2u);
  const FoundInstance& first = found->gpus[1].instances[0];
  EXPECT_EQ(first.uuid, "MIG-1");
  EXPECT_EQ(first.profile, "3g.20gb");
  EXPECT_EQ(first.memory, Bytes::mib(19968));
  EXPECT_EQ(first.gpu_instance, 1u);
  EXPECT_THAT(first.devices,
              ElementsAre("/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"));
  EXPECT_THAT(found->gpus[1].instances[1].devices, IsEmpty());

  const Offer offered = offer(*found);
  ASSERT_EQ(offered.gpus.size(), 3u);
  EXPECT_EQ(offered.gpus[0].gpu.type, "a100");
  EXPECT_TRUE(offered.only_names);
  EXPECT_EQ(offered.gpus[0].name, "GPU-a");
  EXPECT_EQ(offered.gpus[1].gpu,
            (Gpu{GpuIndex(1), "a100_3g.20gb", {8, 9, 10, 11, 12, 13, 14, 15}, Bytes::mib(19968)}));
  EXPECT_EQ(offered.gpus[1].name, "MIG-1");
  EXPECT_EQ(offered.gpus[2].gpu.type, "a100_1g.5gb.me");
  EXPECT_THAT(offered.topology.text(), HasSubstr("GPU1\tSYS\tX\tPIX\t8-15"))
      << "instances have no NVLinks";
}

TEST(Nvml, AProfileIsInTheNameElseFollowsFromTheSizes) {
  nvml::Attributes sizes{};
  EXPECT_EQ(nvml::profile_of("NVIDIA A100-SXM4-40GB MIG 3g.20gb", sizes), "3g.20gb");
  EXPECT_EQ(nvml::profile_of("NVIDIA H100", sizes), "unknown");
  sizes.gpu_slices = sizes.compute_slices = 3;
  sizes.memory_mib = 19968;
  EXPECT_EQ(nvml::profile_of("", sizes), "3g.20gb");
  sizes.compute_slices = 1;
  EXPECT_EQ(nvml::profile_of("", sizes), "1c.3g.20gb");
}

}  // namespace
}  // namespace ares::gres
