// Tests: kubernetes/pod_requests, kubernetes/node_object, kubernetes/node_table
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/nodes/node_object.h"
#include "exec/kubernetes/agent/nodes/node_table.h"
#include "exec/kubernetes/agent/nodes/pod_requests.h"

namespace ares::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json json(const char* text) {
  return Json::parse(text);
}

// --- requests -------------------------------------------------------------------------------------

TEST(PodRequestsTest, ContainersAddUpAndInitContainersComeBefore) {
  const Amounts amounts = requests_of(json(R"({"spec": {
    "containers": [{"resources": {"requests": {"cpu": "250m", "memory": "64Mi", "ephemeral-storage": "2Gi"}}},
                   {"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "2"}}}, {}],
    "initContainers": [{"resources": {"requests": {"cpu": "1100m", "memory": "1Gi", "ephemeral-storage": "3Gi"}}},
                       {"resources": {"requests": {"cpu": "100m"}}}],
    "overhead": {"cpu": "10m"}}})"));
  EXPECT_EQ(amounts.cpu, 1260);
  EXPECT_EQ(amounts.memory, Bytes::gib(1));
  EXPECT_EQ(amounts.tmp_disk, Bytes::gib(3));
  EXPECT_EQ(amounts.devices.at("nvidia.com/gpu"), 2);
}

TEST(PodRequestsTest, InitContainersThatStayCountWithTheContainers) {
  const Amounts amounts = requests_of(json(R"({"spec": {
    "containers": [{"resources": {"requests": {"cpu": "1"}}}],
    "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
                       {"resources": {"requests": {"cpu": "2"}}}]}})"));
  EXPECT_EQ(amounts.cpu, 2500) << "the last init container runs beside the one that stays";
}

TEST(PodRequestsTest, OnlyBoundPodsThatHaveNotEndedReserve) {
  EXPECT_TRUE(is_reserving(json(R"({"spec": {"nodeName": "n"}, "status": {"phase": "Running"}})")));
  EXPECT_TRUE(is_reserving(json(R"({"spec": {"nodeName": "n"}, "status": {"phase": "Pending"}})")));
  EXPECT_FALSE(is_reserving(json(R"({"spec": {}, "status": {"phase": "Pending"}})")));
  EXPECT_FALSE(
      is_reserving(json(R"({"spec": {"nodeName": "n"}, "status": {"phase": "Succeeded"}})")));
  EXPECT_FALSE(is_reserving(json(R"({"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}})")));
}

TEST(PodRequestsTest, OddObjectsReserveNothing) {
  for (const char* text :
       {R"({})", R"({"spec": 1})", R"({"spec": {"containers": "none"}})",
        R"({"spec": {"containers": [{"resources": {"requests": {"cpu": 3}}}]}})",
        R"({"spec": {"containers": [{"resources": {"requests": {"cpu": "x"}}}]}})"})
    EXPECT_EQ(requests_of(json(text)), Amounts{}) << text;
}

// --- a node ---------------------------------------------------------------------------------------

Json node_json(const std::string& more = "") {
  Json node = json(R"({
    "metadata": {"name": "n1", "uid": "u1", "creationTimestamp": "2026-01-02T03:04:05Z",
                 "labels": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "zone": "a"}},
    "spec": {},
    "status": {"allocatable": {"cpu": "3920m", "memory": "8Gi", "nvidia.com/gpu": "2",
                               "nvidia.com/mig-1g.5gb": "1", "pods": "110"},
               "nodeInfo": {"bootID": "boot"},
               "conditions": [{"type": "MemoryPressure", "status": "False"},
                              {"type": "Ready", "status": "True"}]}})");
  if (!more.empty()) node.merge_patch(json(more.c_str()));
  return node;
}

TEST(NodeObjectTest, InventoryIsWhatOtherPodsLeave) {
  const NodeObject node = read_node(node_json());
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(node.boot_id, "boot");
  EXPECT_THAT(node.problem, IsEmpty());
  Amounts taken;
  taken.cpu = 900;
  taken.memory = Bytes::gib(1);
  taken.devices["nvidia.com/gpu"] = 1;
  taken.pods = 12;
  bool is_full = true;
  const Inventory inventory = inventory_of(node, taken, {"zone", "absent"}, is_full);
  EXPECT_FALSE(is_full);
  EXPECT_EQ(inventory.cpus, 3U);
  EXPECT_EQ(inventory.cpu_thousandths, 3020U);
  EXPECT_EQ(inventory.memory, Bytes::gib(7));
  EXPECT_EQ(inventory.max_attempts, 98U);
  EXPECT_THAT(inventory.features, ElementsAre("container", "zone=a"));
  std::vector<std::string> types;
  for (const Gpu& gpu : inventory.gpus) types.push_back(gpu.type);
  EXPECT_THAT(types, ElementsAre("a100", "1g.5gb"));
}

TEST(NodeObjectTest, TemporaryStorageIsTheEphemeralStorageThatOtherPodsLeave) {
  const NodeObject node =
      read_node(node_json(R"({"status": {"allocatable": {"ephemeral-storage": "10Gi"}}})"));
  Amounts taken;
  taken.tmp_disk = Bytes::gib(4);
  bool is_full = true;
  EXPECT_EQ(inventory_of(node, taken, {}, is_full).tmp_disk, Bytes::gib(6));
  taken.tmp_disk = Bytes::gib(11);
  EXPECT_EQ(inventory_of(node, taken, {}, is_full).tmp_disk, Bytes{});
  EXPECT_FALSE(is_full) << "jobs that ask for none run there";
  EXPECT_FALSE(inventory_of(read_node(node_json()), taken, {}, is_full).tmp_disk) << "not known";
}

TEST(NodeObjectTest, LessThanACpuCounts) {
  Amounts taken;
  taken.cpu = 3420;
  bool is_full = true;
  const Inventory inventory = inventory_of(read_node(node_json()), taken, {}, is_full);
  EXPECT_FALSE(is_full);
  EXPECT_EQ(inventory.cpus, 1U);
  EXPECT_EQ(inventory.cpu_thousandths, 500U);
}

TEST(NodeObjectTest, AFullNodeStillHasAnInventory) {
  Amounts taken;
  taken.cpu = 5000;
  taken.devices["nvidia.com/gpu"] = 7;
  bool is_full = false;
  const Inventory inventory = inventory_of(read_node(node_json()), taken, {}, is_full);
  EXPECT_TRUE(is_full);
  EXPECT_EQ(inventory.cpus, 1U);
  EXPECT_EQ(inventory.cpu_thousandths, 1U);
  EXPECT_EQ(inventory.gpus.size(), 1U);
}

TEST(NodeObjectTest, TypesOfGpus) {
  const std::pair<const char*, const char*> kTypes[] = {{"Tesla-V100-PCIE-16GB", "v100"},
                                                        {"NVIDIA-H100-80GB-HBM3", "h100"},
                                                        {"NVIDIA-L40S", "l40s"},
                                                        {"NVIDIA-GeForce-RTX-4090", "rtx-4090"},
                                                        {"", "gpu"},
                                                        {"NVIDIA", "gpu"}};
  for (const auto& [product, type] : kTypes) {
    Json node = node_json();
    node["metadata"]["labels"]["nvidia.com/gpu.product"] = product;
    EXPECT_EQ(gpu_resources(read_node(node)).front().type, type) << product;
  }
}

std::vector<Bytes> gpu_memories(const char* patch) {
  bool is_full = false;
  std::vector<Bytes> memories;
  for (const Gpu& gpu : inventory_of(read_node(node_json(patch)), {}, {}, is_full).gpus)
    memories.push_back(gpu.memory);
  return memories;
}

TEST(NodeObjectTest, MemoryOfGpusIsThatOfTheirLabels) {
  EXPECT_THAT(gpu_memories(R"({"metadata": {"labels": {"nvidia.com/gpu.memory": "81559",
                                                       "nvidia.com/mig-1g.5gb.memory": "4864"}}})"),
              ElementsAre(Bytes::mib(81559), Bytes::mib(81559), Bytes::mib(4864)));
  EXPECT_THAT(gpu_memories(R"({"metadata": {"labels": {"nvidia.com/gpu.memory": "80G"}}})"),
              ElementsAre(Bytes(), Bytes(), Bytes()))
      << "what is not a number of MiB is not known";
  EXPECT_THAT(gpu_memories(R"({"metadata": {"labels": {"amd.com/gpu.vram": "192G"}},
                               "status": {"allocatable": {"nvidia.com/gpu": null, "amd.com/gpu": "1",
                                                          "nvidia.com/mig-1g.5gb": null}}})"),
              ElementsAre(Bytes::gib(192)));
}

TEST(NodeObjectTest, WhyNoPodShouldStartThere) {
  const std::pair<const char*, const char*> kProblems[] = {
      {R"({"spec": {"unschedulable": true}})", "cordoned"},
      {R"({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoExecute"}]}})",
       "k=v:NoExecute"},
      {R"({"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "silent"}]}})",
       "silent"},
      {R"({"status": {"conditions": []}})", "not ready"},
      {R"({"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}})", "deleted"}};
  for (const auto& [patch, problem] : kProblems)
    EXPECT_THAT(read_node(node_json(patch)).problem, HasSubstr(problem)) << patch;
  EXPECT_THAT(
      read_node(node_json(R"({"spec": {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}})"))
          .problem,
      IsEmpty());
}

TEST(NodeObjectTest, WhatIsNoNode) {
  EXPECT_THAT(read_node(json("{}")).name, IsEmpty());
  EXPECT_THAT(read_node(node_json(R"({"metadata": {"uid": null}})")).name, IsEmpty());
  EXPECT_THAT(read_node(node_json(R"({"metadata": {"creationTimestamp": "x"}})")).name, IsEmpty());
}

TEST(NodeObjectTest, ALabelSaysThatAllGpusAreConnected) {
  const NodeObject node = read_node(node_json(
      R"({"metadata": {"labels": {"links": "18", "yes": "true", "no": "false"}},
          "status": {"allocatable": {"nvidia.com/mig-1g.5gb": null}}})"));
  EXPECT_EQ(gpu_domain_of(node, "links", 2).text(),
            "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
            "GPU0\tX\tNV18\tN/A\tN/A\nGPU1\tNV18\tX\tN/A\tN/A\n");
  EXPECT_THAT(std::string(gpu_domain_of(node, "yes", 2).text()), HasSubstr("NV1\t"));
  for (const char* label : {"no", "other", ""})
    EXPECT_TRUE(gpu_domain_of(node, label, 2).empty()) << label;
  EXPECT_TRUE(gpu_domain_of(read_node(node_json(R"({"metadata": {"labels": {"links": "18"}}})")),
                            "links", 2)
                  .empty())
      << "it has parts of GPUs, too";
}

// --- all nodes ------------------------------------------------------------------------------------

class NodeTableTest : public testing::Test, private exec::NodeEvents {
 protected:
  void node_changed(const exec::FoundNode& node) override {
    told.push_back(node.name + " " + node.identity + " " + std::to_string(node.inventory.cpus) +
                   (node.is_gone ? " gone:" : "") +
                   (node.problem.empty() ? "" : " " + node.problem));
    incarnations.push_back(node.incarnation);
    max_attempts = node.inventory.max_attempts;
    tmp_disk = node.inventory.tmp_disk;
    cpu_thousandths = node.inventory.cpu_thousandths;
  }
  void node_removed(const std::string& name, const std::string&) override {
    told.push_back("-" + name);
  }
  std::vector<std::string> look() {
    told.clear();
    table.tell(*this);
    return told;
  }
  void set(const char* more = "") { table.set_node(read_node(node_json(more))); }

  std::set<std::string> held;  // uids
  NodeTable table{
      NodeTableSettings{.prefix = "k-", .cluster_id = "id"},
      [this](const std::string&, const std::string& uid) { return held.contains(uid); }};
  std::vector<std::string> told;
  std::vector<std::uint64_t> incarnations;
  std::optional<std::uint32_t> max_attempts;  // of the node that was told of last, as:
  std::optional<Bytes> tmp_disk;
  std::uint32_t cpu_thousandths = 0;
};

constexpr const char* kOther = R"({"metadata": {"uid": "u2"}})";

TEST_F(NodeTableTest, TellsOnlyChanges) {
  set();
  EXPECT_TRUE(table.has_news());
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 3"));
  EXPECT_FALSE(table.has_news());
  set();
  EXPECT_THAT(look(), IsEmpty());
  table.set_pod("p", "n1", {.cpu = 1500});
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 2"));
  table.set_pod("p", "n1", {.cpu = 1500});
  EXPECT_THAT(look(), IsEmpty());
  table.remove_pod("p");
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 3"));
  EXPECT_TRUE(table.find("k-n1"));
  EXPECT_FALSE(table.find("n1"));
}

TEST_F(NodeTableTest, PodsMayBeKnownBeforeTheirNode) {
  table.set_pod("p", "n1", {.cpu = 2500});
  EXPECT_THAT(look(), IsEmpty());
  set();
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 1"));
}

TEST_F(NodeTableTest, AFullNodeTakesNoJobs) {
  table.set_pod("p", "n1", {.cpu = 3500});
  set();
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 1"));
  EXPECT_EQ(cpu_thousandths, 420U);
  table.set_pod("q", "n1", {.cpu = 420});
  EXPECT_THAT(look(), ElementsAre(HasSubstr("other pods")));
}

TEST_F(NodeTableTest, ANodeTakesNoMorePodsThanItsKubeletAllows) {
  set(R"({"status": {"allocatable": {"pods": "2"}}})");
  look();
  EXPECT_EQ(max_attempts, 2U);
  table.set_pod("p", "n1", {});
  look();
  EXPECT_EQ(max_attempts, 1U);
  table.set_pod("q", "n1", {});
  EXPECT_THAT(look(), ElementsAre(HasSubstr("other pods")));
}

TEST_F(NodeTableTest, PodsOfOthersTakeOfTheEphemeralStorage) {
  set(R"({"status": {"allocatable": {"ephemeral-storage": "10Gi"}}})");
  look();
  EXPECT_EQ(tmp_disk, Bytes::gib(10));
  table.set_pod("p", "n1", {.tmp_disk = Bytes::gib(3)});
  look();
  EXPECT_EQ(tmp_disk, Bytes::gib(7));
  table.remove_pod("p");
  look();
  EXPECT_EQ(tmp_disk, Bytes::gib(10));
}

TEST_F(NodeTableTest, AServerThatDoesNotAnswerIsAProblemOfEachNode) {
  set();
  (void)look();
  table.set_problem("no answer");
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 3 no answer"));
  table.set_problem("");
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 3"));
}

TEST_F(NodeTableTest, AnotherNodeOfTheNameIsAnotherIncarnation) {
  set();
  (void)look();
  table.remove_node("n1");
  set(kOther);
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u2 3"));
  EXPECT_GT(incarnations[1], incarnations[0]) << "although made within the same second";
}

TEST_F(NodeTableTest, AnotherNodeOfTheNameIsAnotherIncarnationAlsoAfterTheRemovalWasTold) {
  set();
  (void)look();
  table.remove_node("n1");
  EXPECT_THAT(look(), ElementsAre("-k-n1"));
  set(kOther);
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u2 3"));
  EXPECT_GT(incarnations[1], incarnations[0]) << "although made within the same second";
  // The very node, such as one that the selector selects again.
  table.remove_node("n1");
  (void)look();
  set(kOther);
  (void)look();
  EXPECT_EQ(incarnations[2], incarnations[1]);
}

TEST_F(NodeTableTest, ItIsNotToldWhileSomethingMayRunOnTheFirst) {
  set();
  (void)look();
  held = {"u1"};
  table.remove_node("n1");
  EXPECT_THAT(look(), ElementsAre(HasSubstr("k-n1 id/u1 3 removed from Kubernetes")));
  set(kOther);
  EXPECT_THAT(look(), ElementsAre(HasSubstr("k-n1 id/u1 3 gone: another node")));
  table.look_again("n1");
  EXPECT_THAT(look(), IsEmpty());
  held.clear();
  table.look_again("n1");
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u2 3"));
}

// An agent that was down meanwhile told of the new node at once, and its jobs would have started beside those of the first.
TEST_F(NodeTableTest, AnAgentThatStartsKeepsAnEarlierNodeOnWhichSomethingMayRun) {
  held = {"u0"};
  set();
  const std::uint64_t created = 1'767'323'045;  // u1 and u0 were made within the same second
  Inventory used;
  used.cpus = 2;
  used.memory = Bytes::gib(1);
  table.keep_earlier("n1", "u0", created, used);
  table.keep_earlier("n1", "u0", created, used);
  EXPECT_THAT(look(), ElementsAre(HasSubstr("k-n1 id/u0 4 gone: another node")));
  EXPECT_EQ(incarnations.back(), created);
  held.clear();
  table.look_again("n1");
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 3"));
  EXPECT_GT(incarnations.back(), created);

  held = {"u5"};
  table.keep_earlier("gone", "u5", 7, used);
  EXPECT_THAT(look(), ElementsAre(HasSubstr("k-gone id/u5 2 removed from Kubernetes")));
  EXPECT_EQ(table.missing().size(), 1u);
  held.clear();
  table.look_again("gone");
  EXPECT_THAT(look(), ElementsAre("-k-gone"));
  table.keep_earlier("n1", "u1", 7, used);
  EXPECT_THAT(look(), IsEmpty()) << "it is this very node";
}

TEST_F(NodeTableTest, ARemovedNodeIsGoneOnlyWhenKubernetesSaysThatThereIsNone) {
  set();
  (void)look();
  EXPECT_THAT(table.missing(), IsEmpty());
  held = {"u1"};
  table.remove_node("n1");
  (void)look();
  EXPECT_THAT(table.missing(), ElementsAre(std::pair<std::string, std::string>("n1", "u1")));
  table.found_missing("n1", "u1", false);
  EXPECT_THAT(look(), ElementsAre(HasSubstr("k-n1 id/u1 3 not selected")));
  EXPECT_EQ(table.missing().size(), 1u) << "it may be removed later";
  table.found_missing("n1", "u1", true);
  EXPECT_THAT(look(), ElementsAre(HasSubstr("k-n1 id/u1 3 gone: removed from Kubernetes")));
  EXPECT_THAT(table.missing(), IsEmpty());
  set();
  EXPECT_THAT(look(), ElementsAre("k-n1 id/u1 3")) << "the very node is there again";
  table.found_missing("n1", "u1", true);
  EXPECT_THAT(look(), IsEmpty()) << "an answer from before";
}

TEST_F(NodeTableTest, ARemovedNodeGoesWhenNothingRunsThere) {
  set();
  (void)look();
  held = {"u1"};
  table.remove_node("n1");
  (void)look();
  held.clear();
  table.look_again("n1");
  EXPECT_THAT(look(), ElementsAre("-k-n1"));
  EXPECT_FALSE(table.find("k-n1"));
}

}  // namespace
}  // namespace ares::kubernetes
