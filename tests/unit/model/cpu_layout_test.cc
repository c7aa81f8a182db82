// Which CPUs are threads of one core: the text form and the questions asked of it.
#include "model/cluster/cpu_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ares {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

IntervalSet set(const std::string& text) {
  return parse_interval_set(text).value();
}

std::string again(const std::string& text) {
  const Result<CpuLayout> layout = parse_cpu_layout(text);
  return layout ? format_cpu_layout(*layout) : layout.error().message;
}

TEST(CpuLayout, TextOfTheUsualNumberingsIsShort) {
  EXPECT_EQ(again("0.0:0-51/104-155;1.1:52-103/156-207"), "0.0:0-51/104-155;1.1:52-103/156-207");
  EXPECT_EQ(again("0.0:0-30:2/1-31:2"), "0.0:0-30:2/1-31:2") << "threads of a core are neighbours";
  EXPECT_EQ(again("0.0:0-3"), "0.0:0-3") << "one thread in each core";
  EXPECT_EQ(again("0.1:0-3;0.0:4-7"), "0.1:0-3;0.0:4-7") << "two NUMA nodes in a package";
  EXPECT_EQ(again(""), "");
}

TEST(CpuLayout, EqualPositionsInTheListsAreOneCore) {
  const CpuLayout layout = parse_cpu_layout("0.0:0-1/4-5;1.2:2,3/6,7").value();
  ASSERT_EQ(layout.cores().size(), 4u);
  EXPECT_THAT(layout.core_of(5)->cpus, ElementsAre(1, 5));
  EXPECT_EQ(layout.core_of(6)->package, 1u);
  EXPECT_EQ(layout.core_of(6)->numa, 2u);
  EXPECT_EQ(layout.core_of(8), nullptr);
  EXPECT_EQ(layout.threads_per_core(), 2u);
}

TEST(CpuLayout, NodesAndCpusAreFoundFromEachOther) {
  const CpuLayout layout = parse_cpu_layout("0.0:0-1/4-5;1.2:2-3/6-7").value();
  EXPECT_EQ(layout.numa_nodes(), set("0,2"));
  EXPECT_EQ(layout.numa_nodes_of(set("7")), set("2"));
  EXPECT_EQ(layout.numa_nodes_of(set("1,2")), set("0,2"));
  EXPECT_TRUE(layout.numa_nodes_of(set("9-12")).empty()) << "CPUs that are not there";
  EXPECT_EQ(layout.cpus_near(set("2")), set("2-3,6-7"));
  EXPECT_EQ(layout.cpus(), set("0-7"));
}

TEST(CpuLayout, IsShownInWords) {
  EXPECT_EQ(summary(parse_cpu_layout("0.0:0-25/52-77;1.1:26-51/78-103").value()),
            "2 sockets, 2 NUMA nodes, 52 cores, 104 CPUs");
  EXPECT_EQ(summary(parse_cpu_layout("0.0:0").value()), "1 socket, 1 NUMA node, 1 core, 1 CPU");
  EXPECT_EQ(summary(CpuLayout()), "");
}

TEST(CpuLayout, WrongTextsAreRefusedWithTheReason) {
  EXPECT_THAT(again("0:0-3"), HasSubstr("does not begin with PACKAGE.NUMA:"));
  EXPECT_THAT(again("0.x:0-3"), HasSubstr("does not begin with PACKAGE.NUMA:"));
  EXPECT_THAT(again("0.0:0-3/4-6"), HasSubstr("lists of different lengths"));
  EXPECT_THAT(again("0.0:0-3;1.1:3-4"), HasSubstr("names CPU 3 again"));
  EXPECT_THAT(again("0.0:0-3/0-3"), HasSubstr("names CPU 0 again"));
  EXPECT_THAT(again("0.0:65536"), HasSubstr("65536"));
  EXPECT_THAT(again("0.0:"), HasSubstr("column"));
  EXPECT_THAT(again("0.0:0;"), HasSubstr("does not begin"));
  EXPECT_THAT(again(std::string(kMaxCpuLayout + 1, '0')), HasSubstr("more than 65536 bytes"));
}

// Numberings that no machine has are kept as well.
TEST(CpuLayout, TextOfAnyLayoutIsReadAsTheSame) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> cpus(1 + random() % 40);
    for (std::size_t i = 0; i < cpus.size(); ++i) cpus[i] = static_cast<std::uint32_t>(i * 3 / 2);
    std::shuffle(cpus.begin(), cpus.end(), random);
    std::vector<CpuLayout::Core> cores;
    while (!cpus.empty()) {
      CpuLayout::Core core;
      core.package = random() % 3;
      core.numa = random() % 4;
      for (std::size_t threads = 1 + random() % 4; threads > 0 && !cpus.empty(); --threads) {
        core.cpus.push_back(cpus.back());
        cpus.pop_back();
      }
      cores.push_back(core);
    }
    const CpuLayout layout(std::move(cores));
    const Result<CpuLayout> read = parse_cpu_layout(format_cpu_layout(layout));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, layout) << format_cpu_layout(layout);
  }
}

}  // namespace
}  // namespace ares
