#include "node/step_ledger.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <random>

#include "node/memory_spool.h"
#include "node/step_spec.h"

namespace ares::node {
namespace {

const AttemptKey kLedgerKey{{JobId(12), TaskIndex{}}, AttemptNo(1)};

std::shared_ptr<const NodeLayout> layout() {
  return std::make_shared<const NodeLayout>(std::vector<std::string>{"n1", "n2", "n3"},
                                            std::vector<std::uint32_t>{4, 4, 4},
                                            std::vector<std::uint32_t>{1, 1, 1});
}

LedgerRow row(std::uint32_t number) {
  LedgerRow row;
  row.use = LedgerRow::kEnded;
  row.number = number;
  row.state = static_cast<std::uint32_t>(StepState::completed);
  row.steps = row.tasks = row.cpus = row.nodes = 1;
  row.started = 1'000'000;
  row.ended = 3'000'000;
  row.user_cpu = row.first_user_cpu = 500'000;
  std::strcpy(row.name, "prog");
  std::strcpy(row.ranks, "0-1");
  return row;
}

std::string bytes_of(const LedgerPage& page) {
  return {reinterpret_cast<const char*>(&page), sizeof page};
}

class StepLedgerTest : public testing::Test {
 protected:
  std::unique_ptr<LedgerPage> page = std::make_unique<LedgerPage>();
  MemorySpool spool;

  void add(const LedgerRow& row) { page->rows[page->used++] = row; }
  std::unique_ptr<AttemptDir> directory() {
    std::unique_ptr<AttemptDir> dir = *spool.create(kLedgerKey);
    StepSpec spec;
    spec.launch.attempt = kLedgerKey;
    spec.launch.spec = std::make_shared<const JobSpec>();
    spec.launch.layout = layout();
    spec.launch.node_name = "n1";
    spec.launch.share.cpus = 4;
    EXPECT_TRUE(dir->create(Record::spec, encode(spec)));
    EXPECT_TRUE(dir->create(Record::steps, bytes_of(*page)));
    return dir;
  }
};

TEST_F(StepLedgerTest, StepsAreReadWithTheNamesOfTheirNodes) {
  add(row(0));
  add(row(1));
  page->others = row(7);
  page->others.steps = 40;
  const auto steps = read_ledger(bytes_of(*page), *layout());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].name, "prog");
  EXPECT_EQ(steps[0].node_list, "n[1-2]");
  EXPECT_EQ(steps[0].user_cpu, std::chrono::milliseconds(500));
  EXPECT_EQ(steps[2].number, kOtherSteps);
  EXPECT_EQ(steps[2].steps, 40u);
}

TEST_F(StepLedgerTest, StepsThatBeganOutOfOrderAreAllThere) {
  for (const std::uint32_t number : {2u, 1u, 4u, 3u, 3u}) add(row(number));
  std::vector<std::int64_t> numbers;
  for (const StepRecord& step : read_ledger(bytes_of(*page), *layout()))
    numbers.push_back(step.number);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST_F(StepLedgerTest, StepWithoutANameGetsOne) {
  LedgerRow nameless = row(0);
  nameless.name[0] = '\0';
  add(nameless);
  EXPECT_EQ(read_ledger(bytes_of(*page), *layout()).at(0).name, "unknown");
}

TEST_F(StepLedgerTest, ClaimsThatCannotBeTrueAreBounded) {
  LedgerRow wild = row(0);
  wild.user_cpu = INT64_MAX;
  wild.max_rss = -5;
  wild.exit_code = 5000;
  wild.exit_signal = -1;
  wild.state = 99;
  wild.ended = -1;
  wild.max_rss_node = 500;
  std::memset(wild.name, '\x1b', sizeof wild.name);  // without a NUL
  std::strcpy(wild.ranks, "0-100000");
  add(wild);
  page->used = UINT32_MAX;
  const auto steps = read_ledger(bytes_of(*page), *layout());
  ASSERT_EQ(steps.size(), 1u) << "rows that were never written are none";
  EXPECT_LT(steps[0].user_cpu.count(), std::int64_t{1} << 53);
  EXPECT_EQ(steps[0].max_rss, Bytes{});
  EXPECT_TRUE(steps[0].exit_code == 255 && steps[0].exit_signal == 0);
  EXPECT_EQ(steps[0].state, StepState::failed);
  EXPECT_GE(*steps[0].ended, steps[0].started);
  EXPECT_EQ(steps[0].name, std::string(sizeof wild.name, '?'));
  EXPECT_TRUE(steps[0].node_list.empty() && steps[0].max_rss_node.empty());
}

TEST_F(StepLedgerTest, NoBytesAreRefusedWithHarm) {
  EXPECT_TRUE(read_ledger("", *layout()).empty());
  EXPECT_TRUE(read_ledger("ARSTEPS1", *layout()).empty());
  std::mt19937 random(3);
  std::string bytes = bytes_of(*page);
  for (int i = 0; i < 20; ++i) {
    for (std::size_t at = 8; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random());
    for (const StepRecord& step : read_ledger(bytes, *layout()))
      EXPECT_TRUE(step.user_cpu.count() >= 0 && step.steps > 0);
  }
}

TEST_F(StepLedgerTest, BatchScriptHasWhatItsStepsDidNotUseOnTheFirstNode) {
  add(row(0));
  add(row(1));
  const auto dir = directory();
  AttemptReport report;
  report.attempt = kLedgerKey;
  report.phase = AttemptPhase::done;
  report.ran_since = Time(Seconds(1));
  report.ended_at = Time(Seconds(10));
  report.usage.user_cpu = Seconds(3);
  report.exit.code = 2;
  const auto steps = steps_at_end(*dir, report);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].number, kBatchStep);
  EXPECT_EQ(steps[0].user_cpu, Seconds(2));
  EXPECT_EQ(steps[0].state, StepState::failed);
  EXPECT_EQ(steps[0].node_list, "n1");
}

TEST_F(StepLedgerTest, StepThatRanWhenTheAttemptEndedWasCancelledWithIt) {
  LedgerRow running = row(0);
  running.use = LedgerRow::kRunning;
  running.ended = 0;
  add(running);
  const auto dir = directory();
  EXPECT_FALSE(steps_of_running(*dir).at(0).ended);
  AttemptReport report;
  report.phase = AttemptPhase::done;
  report.ended_at = Time(Seconds(10));
  const StepRecord step = steps_at_end(*dir, report).at(1);
  EXPECT_EQ(step.state, StepState::cancelled);
  EXPECT_EQ(step.exit_signal, SIGKILL);
  EXPECT_EQ(step.ended, report.ended_at);
}

TEST_F(StepLedgerTest, AttemptWithoutStepsHasNoRows) {
  const auto dir = directory();
  AttemptReport report;
  report.phase = AttemptPhase::done;
  EXPECT_TRUE(steps_at_end(*dir, report).empty());
  EXPECT_TRUE(steps_at_end(**spool.create({{JobId(13), {}}, AttemptNo(1)}), report).empty());
}

TEST_F(StepLedgerTest, RunningAttemptTellsOnlyTheLastStepsThatEnded) {
  for (std::uint32_t i = 0; i < 300; ++i) add(row(i));
  const auto dir = directory();
  const auto steps = steps_of_running(*dir);
  ASSERT_EQ(steps.size(), 50u);
  EXPECT_EQ(steps.front().number, 250);
  EXPECT_EQ(steps.back().number, 299);
}

}  // namespace
}  // namespace ares::node
