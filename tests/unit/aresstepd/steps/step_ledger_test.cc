#include "aresstepd/steps/step_ledger.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "os/file.h"

namespace ares::stepd {
namespace {

constexpr Time kNow{Seconds(1'700'000'000)};

class LedgerFileTest : public testing::Test {
 protected:
  LedgerFileTest() {
    std::string pattern = testing::TempDir() + "ledger-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~LedgerFileTest() override { std::filesystem::remove_all(directory_); }
  StepLedger host(Time now = kNow) {
    Result<StepLedger> ledger = StepLedger::open(directory_, "steps", now);
    EXPECT_TRUE(ledger) << ledger.error().message;
    return std::move(*ledger);
  }
  std::vector<StepRecord> read() const {
    const Result<std::string> bytes = os::read_file(directory_ + "/steps");
    const NodeLayout layout({"n1", "n2"}, {4, 4}, {1, 1});
    return bytes ? node::read_ledger(*bytes, layout) : std::vector<StepRecord>{};
  }
  static steps::StepAccount account(std::uint32_t number, StepState state) {
    steps::StepAccount account;
    account.number = number;
    account.name = "prog";
    account.tasks = 2;
    account.cpus = 2;
    account.nodes = {0, 1};
    account.state = state;
    account.used.user_cpu = Seconds(2);
    account.on_first.user_cpu = Seconds(1);
    account.used.max_rss = 4096;
    account.max_rss_node = 1;
    account.sum_rss = 8000;
    return account;
  }
  std::string directory_;
};

TEST_F(LedgerFileTest, StepIsThereFromItsBeginAndKeepsItsTimes) {
  StepLedger ledger = host();
  ledger.put(account(0, StepState::running), kNow);
  ASSERT_EQ(read().size(), 1u);
  EXPECT_EQ(read()[0].state, StepState::running);
  steps::StepAccount ended = account(0, StepState::failed);
  ended.worst.code = 3;
  ledger.put(ended, kNow + Seconds(5));
  const StepRecord step = read().at(0);
  EXPECT_TRUE(step.state == StepState::failed && step.exit_code == 3);
  EXPECT_TRUE(step.started == kNow && step.ended == kNow + Seconds(5));
  EXPECT_EQ(step.node_list, "n[1-2]");
  EXPECT_EQ(step.max_rss_node, "n2");
  EXPECT_EQ(step.user_cpu, Seconds(2));
}

TEST_F(LedgerFileTest, StepsOfAnEarlierHostEndedWithIt) {
  host().put(account(0, StepState::running), kNow);
  StepLedger next = host(kNow + Seconds(9));
  next.put(account(1, StepState::completed), kNow + Seconds(10));
  const auto steps = read();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_TRUE(steps[0].state == StepState::cancelled && steps[0].ended == kNow + Seconds(9));
}

TEST_F(LedgerFileTest, StepsBeyondTheMostAreSummedUpAndTheFileDoesNotGrow) {
  StepLedger ledger = host();
  for (std::uint32_t i = 0; i < kMostSteps + 5; ++i) {
    ledger.put(account(i, StepState::running), kNow);
    ledger.put(account(i, StepState::completed), kNow + Seconds(1));
  }
  const auto steps = read();
  ASSERT_EQ(steps.size(), kMostSteps + 1u);
  EXPECT_EQ(steps.back().number, kOtherSteps);
  EXPECT_EQ(steps.back().steps, 5u);
  EXPECT_EQ(steps.back().user_cpu, Seconds(10));
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/steps"), sizeof(node::LedgerPage));
}

TEST_F(LedgerFileTest, CancelledStepNamesTheUser) {
  StepLedger ledger = host();
  steps::StepAccount cancelled = account(0, StepState::cancelled);
  cancelled.cancelled = true;
  cancelled.cancelled_by = UserId(0);
  cancelled.worst.signal = 15;
  ledger.put(cancelled, kNow);
  const StepRecord step = read().at(0);
  EXPECT_TRUE(step.cancelled_by == UserId(0) && step.exit_signal == 15 && step.exit_code == 0);
}

TEST_F(LedgerFileTest, OthersCannotReadIt) {
  const StepLedger ledger = host();
  struct stat file {};
  ASSERT_EQ(::stat((directory_ + "/steps").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
}

}  // namespace
}  // namespace ares::stepd
