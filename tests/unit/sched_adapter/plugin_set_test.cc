// Tests: plugin_views
// The data that a plugin in C gets, and how its answers are used.
#include "sched/adapter/plugin_set.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace ares::sched {
namespace {

// The last data that the table's functions got. They are plain functions, as those of a plugin are.
struct Seen {
  std::map<std::string, std::string> options;
  std::string text;
};
Seen* g_seen = nullptr;

std::string text_of(const ares_sched_job& job) {
  std::string text = std::string(job.partition) + " " + std::to_string(job.tasks) + "x" +
                     std::to_string(job.cpus_per_task) + " user=" + job.user +
                     " account=" + job.account + " comment=" + job.comment +
                     " id=" + std::to_string(job.id) + " limit=" + std::to_string(job.time_limit);
  for (size_t i = 0; i < job.gpu_request_count; ++i)
    text += " gpus=" + std::string(job.gpu_requests[i]->type) + ":" +
            std::to_string(job.gpu_requests[i]->count) + "/" +
            std::to_string(job.gpu_requests[i]->per);
  for (size_t i = 0; i < job.feature_count; ++i) text += std::string(" ") + job.features[i];
  return text;
}

std::string text_of(const ares_sched_node& node) {
  std::string text = std::string(node.name) + "@" + node.leaf +
                     " cpus=" + std::to_string(node.free_cpus) + "/" + std::to_string(node.cpus) +
                     " gpus=";
  for (size_t p = 0; p < node.gpu_count; ++p)
    text += std::to_string(node.gpu_indices[p]) + node.gpu_types[p] +
            ((node.free_gpus[p / 64] >> (p % 64) & 1) != 0 ? "+" : "-");
  for (size_t i = 0; i < node.feature_count; ++i) text += std::string(" ") + node.features[i];
  if (node.nvlinks) text += " nv01=" + std::to_string(node.nvlinks[1]);
  return text;
}

const ares_sched_plugin kTable = {
    ARES_SCHED_ABI_VERSION,
    sizeof(ares_sched_plugin),
    ARES_SCHED_LOOK_COMMENT | ARES_SCHED_LOOK_NODE_FREE,
    [](const ares_sched_host* host, char* error, size_t error_size) -> void* {
      for (size_t i = 0; i < host->option_count; ++i)
        g_seen->options[host->options[i].key] = host->options[i].value;
      if (g_seen->options.contains("bad")) {
        std::strncpy(error, "bad\nis bad", error_size);
        return nullptr;
      }
      return g_seen;
    },
    [](void* self) { static_cast<Seen*>(self)->text = "closed"; },
    [](void* self, const ares_sched_job* job, const ares_sched_node* const* nodes, size_t count,
       uint64_t* allowed, char* why, size_t why_size) {
      auto& text = static_cast<Seen*>(self)->text = text_of(*job);
      for (size_t i = 0; i < count; ++i) text += "\n" + text_of(*nodes[i]);
      if (why) std::memset(why, 'x', why_size);  // not even terminated
      for (size_t i = 0; i < count; i += 2) allowed[i / 64] &= ~(uint64_t{1} << (i % 64));
    },
    [](void*, const ares_sched_job*, const ares_sched_node* const* nodes, size_t count,
       int64_t* scores) {
      for (size_t i = 0; i < count; ++i) scores[i] = static_cast<int64_t>(nodes[i]->free_cpus);
    },
    [](void* self, const ares_sched_placement* const* placements, size_t count, char* why,
       size_t why_size) -> int32_t {
      auto& text = static_cast<Seen*>(self)->text = "";
      for (size_t i = 0; i < count; ++i) {
        text += text_of(*placements[i]->job);
        for (size_t s = 0; s < placements[i]->share_count; ++s) {
          const ares_sched_share& share = *placements[i]->shares[s];
          text += "\n" + std::string(share.node->name) + " tasks=" + std::to_string(share.tasks);
          for (size_t g = 0; g < share.gpu_count; ++g)
            text += " " + std::to_string(share.node->gpu_indices[share.gpus[g]]);
        }
        text += "\n";
      }
      std::strncpy(why, "not \x1b[31mtoday", why_size);
      return count == 1;
    }};

class PluginSetTest : public ::testing::Test {
 protected:
  PluginSetTest() {
    g_seen = &seen;
    spec.user = "ann";
    spec.account = "bio";
    spec.comment = "hello";
    spec.tasks = 2;
    spec.cpus_per_task = 3;
    spec.gpus_per_node = {{"a100", 2}};
    spec.features = {"fast"};
    job.key.job = JobId(17);
    job.time_limit = Seconds(600);
    partition.name = "main";
    for (int i = 0; i < 2; ++i) {
      Node& node = nodes[i];
      node.name = i == 0 ? "n1" : "n2";
      node.contact = Contact::registered;
      node.inventory.cpus = 8;
      node.inventory.features = {"r" + std::to_string(i)};
      for (std::uint16_t g = 0; g < 2; ++g)
        node.inventory.gpus.push_back(
            {GpuIndex(static_cast<std::uint16_t>(g + 4 * i)), "a100", {}});
      rows.push_back({&node, &node.inventory, 5 + i, 1 << 20, {}, i == 0 ? &leaf : nullptr});
    }
    nodes[0].inventory.gpu_topology = GpuTopology("\tGPU0\tGPU1\nGPU0\tX\tNV4\nGPU1\tNV4\tX\n");
    rows[0].gpus_used = used;
  }

  PluginSet::Loaded load(std::map<std::string, std::string> options = {}) {
    PluginSource source{"test", "", {"main"}, std::move(options), "test -", &kTable};
    return PluginSet::load({source}, nullptr);
  }
  PluginJob told() {
    job.spec = std::make_shared<const JobSpec>(spec);
    return {&job, &partition};
  }

  Seen seen;
  JobSpec spec;
  Job job;
  Partition partition;
  Node nodes[2];
  const std::vector<GpuIndex> used{GpuIndex(1)};
  const std::string leaf = "leaf7";
  std::vector<PluginNode> rows;
};

TEST_F(PluginSetTest, PassesOnlyRequestedNodesAndDeclaredProperties) {
  const auto set = load({{"links", "2"}});
  ASSERT_TRUE(set);
  EXPECT_EQ(seen.options.at("links"), "2");
  EXPECT_EQ((*set)->facts()[0].partitions, (std::vector<std::string>{"main"}));
  EXPECT_TRUE((*set)->facts()[0].filters && (*set)->facts()[0].scores &&
              (*set)->facts()[0].permits);
  Bitset allowed(2, true);
  std::string why;
  (*set)->filter(0, told(), rows, allowed, &why);
  EXPECT_EQ(seen.text,
            "main 2x3 user= account= comment=hello id=0 limit=-1 gpus=a100:2/0 fast\n"
            "n1@leaf7 cpus=5/8 gpus=0a100+1a100- r0 nv01=4\n"
            "n2@ cpus=6/8 gpus=4a100+5a100+ r1");
  EXPECT_FALSE(allowed.test(0));
  EXPECT_TRUE(allowed.test(1));
  EXPECT_EQ(why.size(), 511u);  // truncated

  std::vector<std::int64_t> scores(2, 0);
  (*set)->score(0, told(), rows, scores);
  EXPECT_EQ(scores, (std::vector<std::int64_t>{5, 6}));
}

TEST_F(PluginSetTest, PermitGetsAllPropertiesAndItsTextIsMadePrintable) {
  const auto set = load();
  ASSERT_TRUE(set);
  NodeShare first, second;
  first.tasks = 1;
  first.gpus = {GpuIndex(0)};
  second.tasks = 1;
  second.gpus = {GpuIndex(4), GpuIndex(5)};
  const std::vector<NodeShare> shares{first, second};
  const std::vector<PluginPlacement> one{{told(), shares, rows}};
  std::string why;
  EXPECT_TRUE((*set)->permit(0, one, why));
  EXPECT_EQ(seen.text,
            "main 2x3 user=ann account=bio comment=hello id=17 limit=600 gpus=a100:2/0 fast\n"
            "n1 tasks=1 0\nn2 tasks=1 4 5\n");
  const std::vector<PluginPlacement> two{one[0], one[0]};
  EXPECT_FALSE((*set)->permit(0, two, why));
  EXPECT_EQ(why, "not  [31mtoday");
}

TEST_F(PluginSetTest, LoadFailsIfThePluginRefusesToOpen) {
  const auto set = load({{"bad", "1"}});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().source, 0u);
  EXPECT_EQ(set.error().error.message, "plugin refused: bad is bad");
}

TEST_F(PluginSetTest, ClosesEveryOpenedPlugin) {
  { ASSERT_TRUE(load()); }
  EXPECT_EQ(seen.text, "closed");
}

// Uses many nodes, so that bits in later words are tested.
TEST_F(PluginSetTest, BitsCorrespondToTheNodes) {
  const auto set = load();
  ASSERT_TRUE(set);
  const std::vector<PluginNode> many(131, rows[0]);
  Bitset allowed(many.size(), true);
  (*set)->filter(0, told(), many, allowed, nullptr);
  EXPECT_EQ(allowed.count(), 65u);
  EXPECT_TRUE(allowed.test(129));
  EXPECT_FALSE(allowed.test(130));
}

}  // namespace
}  // namespace ares::sched
