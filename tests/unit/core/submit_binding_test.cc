// Tests: cpu_layouts
// Jobs that use some hardware threads of each core, and layouts of CPUs that nodes report.
#include <gmock/gmock.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

Inventory machine(const std::string& layout) {
  Inventory inventory = Cluster::machine();
  inventory.cpu_layout = SharedText(layout);
  return inventory;
}

std::string refusal(Cluster& cluster, std::uint32_t cpus, JobBinding binding) {
  JobSpec spec = Cluster::spec();
  spec.cpus_per_task = cpus;
  spec.binding = std::move(binding);
  const Reply reply = cluster.try_submit(spec);
  return reply.failed ? reply.error.message : "accepted";
}

TEST(BindingRequests, CpusOfWholeCoresMustBePossibleOnANode) {
  Cluster cluster(1);
  ASSERT_FALSE(cluster.register_node(1, {}, machine("0.0:0-1/2-3")).failed);
  EXPECT_EQ(refusal(cluster, 4, {}), "accepted");
  EXPECT_EQ(refusal(cluster, 4, {"multithread", 0, "", "", "", ""}), "accepted");
  EXPECT_EQ(refusal(cluster, 2, {"nomultithread", 0, "", "", "", ""}), "accepted");
  EXPECT_THAT(refusal(cluster, 3, {"nomultithread", 0, "", "", "", ""}),
              HasSubstr("needs 3 CPUs on one node with 1 of the hardware threads of each core; the "
                        "most a node of partition main has is 2"));
  EXPECT_THAT(refusal(cluster, 3, {"", 1, "", "", "", ""}), HasSubstr("has is 2"));
  EXPECT_EQ(refusal(cluster, 4, {"", 2, "", "", "", ""}), "accepted");
}

TEST(BindingRequests, CoresOfANodeWithoutLayoutHaveOneThread) {
  Cluster cluster(1);
  ASSERT_FALSE(cluster.register_node(1, {}, machine("")).failed);
  EXPECT_EQ(refusal(cluster, 4, {"nomultithread", 0, "", "", "", ""}), "accepted");
}

TEST(BindingRequests, UnreadableLayoutOfANodeIsRefused) {
  Cluster cluster(1);
  const Reply reply = cluster.register_node(1, {}, machine("0.0:0-1/2"));
  ASSERT_TRUE(reply.failed);
  EXPECT_THAT(reply.error.message, HasSubstr("node n1: layout of CPUs: \"0.0:0-1/2\" has lists "
                                             "of different lengths"));
}

}  // namespace
}  // namespace ares::core
