#include "steps/placement.h"

#include <gtest/gtest.h>

#include <random>

namespace ares::steps {
namespace {

using Ranks = std::vector<std::uint32_t>;

StepRequest ask(std::uint32_t tasks, std::uint32_t nodes = 0, std::uint32_t cpus = 1) {
  StepRequest request;
  request.tasks = tasks;
  request.nodes = nodes;
  request.task.cpus_per_task = cpus;
  return request;
}

StepRequest exactly(std::uint32_t tasks, std::uint32_t nodes = 0, std::uint32_t cpus = 1) {
  StepRequest request = ask(tasks, nodes, cpus);
  request.exact = true;
  return request;
}

class PlacementTest : public testing::Test {
 protected:
  Placement two{{{"n1", 4, 2}, {"n2", 4, 2}}};

  StepLayout placed(const StepRequest& request) {
    Result<StepLayout> layout = two.place(request);
    EXPECT_TRUE(layout) << layout.error().message;
    return layout.value_or(StepLayout{});
  }
  ErrorCode refused(const StepRequest& request) {
    const Result<StepLayout> layout = two.place(request);
    EXPECT_FALSE(layout);
    return layout ? ErrorCode::internal : layout.error().code;
  }
};

TEST_F(PlacementTest, StepOfAsManyTasksAsTheJobIsLaidOutLikeTheJob) {
  Placement uneven{{{"n1", 4, 3}, {"n2", 4, 1}}};
  const Result<StepLayout> layout = uneven.place(ask(4, 2));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->nodes[0].ranks, (Ranks{0, 1, 2}));
  EXPECT_EQ(layout->nodes[1].ranks, (Ranks{3}));
}

TEST_F(PlacementTest, TasksGoToTheFewestNodesUnlessANumberIsAsked) {
  EXPECT_EQ(placed(ask(3)).nodes.size(), 1u);
  const StepLayout both = placed(ask(3, 2));
  ASSERT_EQ(both.nodes.size(), 2u);
  EXPECT_EQ(both.nodes[0].ranks, (Ranks{0, 1}));
  EXPECT_EQ(both.nodes[1].ranks, (Ranks{2}));
}

TEST_F(PlacementTest, CyclicRanksGoRoundTheNodes) {
  StepRequest request = ask(5, 2);
  request.spread = Spread::cyclic;
  const StepLayout layout = placed(request);
  EXPECT_EQ(layout.nodes[0].ranks, (Ranks{0, 2, 4}));
  EXPECT_EQ(layout.nodes[1].ranks, (Ranks{1, 3}));
}

TEST_F(PlacementTest, OneTaskOnMoreNodesThanItCanUseGetsOneNode) {
  EXPECT_EQ(placed(ask(1, 2)).nodes.size(), 1u);
}

TEST_F(PlacementTest, ChosenNodesAreUsedAndExcludedOnesNot) {
  StepRequest request = ask(1);
  request.wanted_nodes = {"n2"};
  EXPECT_EQ(placed(request).nodes[0].name, "n2");
  request = ask(1);
  request.excluded_nodes = {"n1"};
  EXPECT_EQ(placed(request).nodes[0].name, "n2");
  request.excluded_nodes = {"n1", "n2"};
  EXPECT_EQ(refused(request), ErrorCode::invalid_argument);
  request = ask(1);
  request.wanted_nodes = {"n9"};
  EXPECT_EQ(refused(request), ErrorCode::invalid_argument);
}

TEST_F(PlacementTest, WhatTheJobDoesNotHaveIsRefusedForGood) {
  EXPECT_EQ(refused(ask(9)), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(ask(1, 3)), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(ask(1, 0, 5)), ErrorCode::invalid_argument) << "no node has five CPUs";
  StepRequest request = ask(9);
  request.overcommit = true;
  EXPECT_EQ(placed(request).tasks, 9u);
}

TEST_F(PlacementTest, WithoutExactItTakesItsNodesWholeAndASecondOneWaits) {
  const StepLayout first = placed(ask(1));
  EXPECT_EQ(first.nodes[0].cpus, (Ranks{0, 1, 2, 3}));
  two.occupy(first);
  EXPECT_EQ(placed(ask(1)).nodes[0].name, "n2");
  two.occupy(placed(ask(1)));
  EXPECT_EQ(refused(ask(1)), ErrorCode::failed_precondition);
  StepRequest shares = ask(8);
  shares.overlap = true;
  EXPECT_EQ(placed(shares).tasks, 8u);
  two.release(first);
  EXPECT_EQ(placed(ask(1)).nodes[0].name, "n1");
}

TEST_F(PlacementTest, ExactStepsRunBesideEachOtherOnCpusOfTheirOwn) {
  const StepLayout first = placed(exactly(1, 0, 2));
  two.occupy(first);
  const StepLayout second = placed(exactly(2));
  EXPECT_EQ(first.nodes[0].cpus, (Ranks{0, 1}));
  EXPECT_EQ(second.nodes[0].cpus, (Ranks{2, 3}));
}

class GpuPlacement : public testing::Test {
 protected:
  Placement job{{{"n1", 4, 2, 4}, {"n2", 4, 2, 2}}};

  StepLayout placed(const StepRequest& request) {
    const Result<StepLayout> layout = job.place(request);
    EXPECT_TRUE(layout) << layout.error().message;
    return layout.value_or(StepLayout{});
  }
  ErrorCode refused(const StepRequest& request) {
    const Result<StepLayout> layout = job.place(request);
    EXPECT_FALSE(layout);
    return layout ? ErrorCode::internal : layout.error().code;
  }
};

TEST_F(GpuPlacement, StepThatSaysNothingSeesAllGpusAndTakesNone) {
  EXPECT_FALSE(placed(exactly(1)).divides_gpus);
  job.occupy(placed(exactly(1)));
  StepRequest all = exactly(1);
  all.gpus_per_node = 4;
  EXPECT_EQ(placed(all).nodes[0].gpus, (Ranks{0, 1, 2, 3}));
}

TEST_F(GpuPlacement, ExactStepsHaveGpusOfTheirOwnAndTheNextOneWaits) {
  StepRequest one = exactly(1);
  one.wanted_nodes = {"n2"};
  one.gpus_per_node = 1;
  const StepLayout first = placed(one);
  EXPECT_EQ(first.nodes[0].gpus, (Ranks{0}));
  job.occupy(first);
  const StepLayout second = placed(one);
  EXPECT_EQ(second.nodes[0].gpus, (Ranks{1}));
  job.occupy(second);
  EXPECT_EQ(refused(one), ErrorCode::failed_precondition) << "there are CPUs, but no GPU";
  StepRequest shares = one;
  shares.overlap = true;
  EXPECT_EQ(placed(shares).nodes[0].gpus, (Ranks{0}));
  job.release(first);
  EXPECT_EQ(placed(one).nodes[0].gpus, (Ranks{0}));
}

TEST_F(GpuPlacement, GpusOfTasksSayHowManyTasksFitOnANode) {
  StepRequest tasks = exactly(3);
  tasks.task.gpus_per_task = 2;
  const StepLayout both = placed(tasks);
  ASSERT_EQ(both.nodes.size(), 2u);
  EXPECT_EQ(both.nodes[0].gpus, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(both.nodes[1].gpus, (Ranks{0, 1}));
  tasks.tasks = 4;
  EXPECT_EQ(refused(tasks), ErrorCode::invalid_argument);
}

TEST_F(GpuPlacement, GpusOfAllNodesAreSharedOutAndNeedOneOnEach) {
  StepRequest total = exactly(2, 2);
  total.gpus = 5;
  const StepLayout layout = placed(total);
  ASSERT_EQ(layout.nodes.size(), 2u);
  EXPECT_EQ(layout.nodes[0].gpus.size() + layout.nodes[1].gpus.size(), 5u);
  total.gpus = 7;
  EXPECT_EQ(refused(total), ErrorCode::invalid_argument);
  total.gpus = 1;
  EXPECT_EQ(refused(total), ErrorCode::invalid_argument) << "for two nodes";
  StepRequest one_node = exactly(2);
  one_node.gpus = 5;
  EXPECT_EQ(placed(one_node).nodes.size(), 2u) << "no node has so many alone";
  StepRequest none = exactly(1);
  none.gpus = 0;
  EXPECT_TRUE(placed(none).divides_gpus && placed(none).nodes[0].gpus.empty());
}

TEST_F(GpuPlacement, NodeThatIsLargeEnoughIsFoundBehindOthers) {
  Placement uneven{{{"n1", 2, 1, 1}, {"n2", 4, 1, 2}}};
  StepRequest request = exactly(2, 1);
  request.task.gpus_per_task = 1;
  const Result<StepLayout> layout = uneven.place(request);
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(layout->nodes[0].name, "n2");
}

TEST_F(GpuPlacement, WhatNoWaitingHelpsIsRefused) {
  StepRequest request = exactly(2, 2);
  request.gpus_per_node = 3;  // n2 has two
  EXPECT_EQ(refused(request), ErrorCode::invalid_argument);
}

// Of any sequence of steps: no CPU has two of them, all ranks are there once, and each task has its CPUs.
TEST(PlacementProperty, NoCpuIsGivenTwice) {
  std::mt19937 random(20261124);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::vector<JobNode> nodes;
    for (std::uint32_t i = 0, n = 1 + below(5); i < n; ++i)
      nodes.push_back({"n" + std::to_string(i), 1 + below(9), below(4)});
    Placement placement(nodes);
    std::vector<StepLayout> running;
    for (int move = 0; move < 40; ++move) {
      if (!running.empty() && below(3) == 0) {
        const std::size_t which = below(static_cast<std::uint32_t>(running.size()));
        placement.release(running[which]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      StepRequest request = ask(1 + below(8), below(3), 1 + below(3));
      request.exact = below(2) == 0;
      request.tasks_per_node = below(4);
      request.spread = below(2) == 0 ? Spread::block : Spread::cyclic;
      const Result<StepLayout> layout = placement.place(request);
      if (!layout) continue;
      std::set<std::uint32_t> ranks;
      for (const StepLayout::Node& node : layout->nodes) {
        ASSERT_FALSE(node.ranks.empty());
        for (const std::uint32_t rank : node.ranks) ASSERT_TRUE(ranks.insert(rank).second);
        ASSERT_GE(node.cpus.size(), node.ranks.size() * request.task.cpus_per_task);
        if (request.tasks_per_node != 0) {
          ASSERT_LE(node.ranks.size(), request.tasks_per_node);
        }
        for (const StepLayout& other : running)
          for (const StepLayout::Node& theirs : other.nodes)
            for (const std::uint32_t cpu : theirs.cpus)
              ASSERT_FALSE(theirs.index == node.index &&
                           std::find(node.cpus.begin(), node.cpus.end(), cpu) != node.cpus.end());
      }
      ASSERT_EQ(ranks.size(), request.tasks);
      ASSERT_EQ(*ranks.rbegin(), request.tasks - 1);
      placement.occupy(*layout);
      running.push_back(*layout);
    }
  }
}

}  // namespace
}  // namespace ares::steps
