#include "config/default_memory.h"

#include <gtest/gtest.h>

namespace ares::config {
namespace {

ConfiguredNode node(const std::string& name, std::uint32_t cpus, Bytes memory) {
  ConfiguredNode n;
  n.name = name;
  n.inventory.cpus = cpus;
  n.inventory.memory = memory;
  return n;
}

Partition partition(const std::string& name, std::vector<std::string> nodes) {
  Partition p;
  p.name = name;
  p.nodes = std::move(nodes);
  return p;
}

TEST(DefaultMemory, IsTheSmallestShareOfACpu) {
  Config config;
  config.nodes = {node("n1", 4, Bytes::mib(4000)), node("n2", 8, Bytes::mib(64'001)),
                  node("n3", 0, Bytes{}), node("n4", 3, Bytes::mib(1000))};
  config.partitions = {partition("all", {"n1", "n2", "n3"}), partition("large", {"n2"}),
                       partition("found", {"n3"}), partition("odd", {"n4"})};
  config.partitions.push_back(partition("given", {"n1"}));
  config.partitions.back().default_memory_per_cpu = Bytes::mib(100);
  const auto filled = partitions_with_memory(config);
  ASSERT_EQ(filled.size(), 5u);
  EXPECT_EQ(filled[0].default_memory_per_cpu, Bytes::mib(1000));
  EXPECT_EQ(filled[1].default_memory_per_cpu, Bytes::mib(8000));
  EXPECT_EQ(filled[2].default_memory_per_cpu, Bytes{}) << "it is not known before it registers";
  EXPECT_EQ(filled[3].default_memory_per_cpu, Bytes::mib(333)) << "all its CPUs fit";
  EXPECT_EQ(filled[4].default_memory_per_cpu, Bytes::mib(100));
  EXPECT_EQ(config.partitions[0].default_memory_per_cpu, Bytes{}) << "the file says nothing";
}

}  // namespace
}  // namespace ares::config
