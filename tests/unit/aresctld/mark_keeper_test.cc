// Tests: mark_keeper, state_dir
#include "aresctld/engine/mark_keeper.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "aresctld/engine/state_dir.h"

namespace ares::aresctld {
namespace {

namespace fs = std::filesystem;

class MarkKeeperTest : public ::testing::Test {
 protected:
  MarkKeeperTest() {
    std::string pattern = (fs::temp_directory_path() / "ares-mark-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    opened_.system = "sys";
    opened_.position = {"sys", Epoch(3), "holder", Lsn(10), JobId(4)};
    opened_.next_node_id = NodeId(2);
  }
  ~MarkKeeperTest() override { fs::remove_all(directory_); }

  // As the next controller finds it, whatever became of this one.
  store::HighWaterMark seen() const {
    const auto mark = store::HighWater(path()).load();
    EXPECT_TRUE(mark && *mark);
    return mark && *mark ? **mark : store::HighWaterMark{};
  }
  std::string path() const { return (directory_ / "high-water").string(); }

  fs::path directory_;
  store::HighWaterMark opened_;
};

TEST_F(MarkKeeperTest, EveryCommitIsThereBeforeAnythingOfItIsAcknowledged) {
  MarkKeeper keeper(path());
  ASSERT_TRUE(keeper.begin(opened_));
  EXPECT_EQ(seen().position, opened_.position);
  // However soon after each other: the last one of a burst is not left out.
  for (std::uint64_t i = 1; i <= 20; ++i) {
    keeper.committed(Epoch(3), Lsn(10 + i), JobId(4 + i), NodeId(2));
    EXPECT_EQ(seen().position.lsn, Lsn(10 + i));
    EXPECT_EQ(seen().position.next_job_id, JobId(4 + i));
  }
}

TEST_F(MarkKeeperTest, NumbersAreSetAsideBeforeTheyAreGiven) {
  MarkKeeper keeper(path());
  ASSERT_TRUE(keeper.begin(opened_));
  EXPECT_GT(seen().reserved_job_id, opened_.position.next_job_id);
  for (const std::uint64_t id : {100u, 50'000u, 1'000'000u}) {
    keeper.committed(Epoch(3), Lsn(11), JobId(id), NodeId(2));
    EXPECT_GE(seen().reserved_job_id, JobId(id));
  }
  keeper.committed(Epoch(3), Lsn(100'000'000), JobId(1'000'000), NodeId(2));
  EXPECT_GE(seen().reserved_lsn, Lsn(100'000'000));
}

TEST_F(MarkKeeperTest, WhatANodeHasHeardStaysWhateverIsCommittedAfterwards) {
  MarkKeeper keeper(path());
  ASSERT_TRUE(keeper.begin(opened_));
  keeper.object({"sys/later", Epoch(5), "other", Lsn(900), JobId(70)});
  keeper.committed(Epoch(3), Lsn(11), JobId(5), NodeId(2));  // was on its way
  EXPECT_EQ(seen().position,
            (JournalPosition{"sys/later", Epoch(5), "other", Lsn(900), JobId(70)}));
  EXPECT_GT(seen().reserved_job_id, JobId(70));
  EXPECT_FALSE(store::check_not_behind(seen(), opened_, {}));
}

TEST_F(MarkKeeperTest, ANodeThatTellsNoHistoryMeansThisOne) {
  MarkKeeper keeper(path());
  ASSERT_TRUE(keeper.begin(opened_));
  keeper.object({"", Epoch(3), "", Lsn(900), JobId(0)});
  EXPECT_EQ(seen().position, (JournalPosition{"sys", Epoch(3), "holder", Lsn(900), JobId(4)}));
}

// A controller that is restarted while it waits for its nodes must wait for them again.
TEST_F(MarkKeeperTest, NothingIsWrittenBeforeTheNodesWereHeard) {
  {
    MarkKeeper keeper(path());
    keeper.await_nodes(opened_);
    keeper.committed(Epoch(3), Lsn(12), JobId(4), NodeId(2));
    EXPECT_FALSE(fs::exists(path()));
  }
  EXPECT_FALSE(fs::exists(path()));
  MarkKeeper keeper(path());
  keeper.await_nodes(opened_);
  keeper.committed(Epoch(3), Lsn(12), JobId(4), NodeId(2));
  ASSERT_TRUE(keeper.confirm());
  EXPECT_EQ(seen().position.lsn, Lsn(12));
  EXPECT_GT(seen().reserved_job_id, JobId(4));
  keeper.committed(Epoch(3), Lsn(13), JobId(5), NodeId(2));
  EXPECT_EQ(seen().position.lsn, Lsn(13));
}

TEST_F(MarkKeeperTest, WhatANodeHasHeardMeanwhileIsWritten) {
  MarkKeeper keeper(path());
  keeper.await_nodes(opened_);
  keeper.object({"sys", Epoch(3), "other", Lsn(900), JobId(70)});
  EXPECT_EQ(seen().position.lsn, Lsn(900));
}

TEST_F(MarkKeeperTest, TheDirectoryIsOneControllers) {
  auto first = StateDir::take((directory_ / "state").string());
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->seen()->has_value());
  EXPECT_EQ(StateDir::take((directory_ / "state").string()).error().code,
            ErrorCode::failed_precondition);
}

}  // namespace
}  // namespace ares::aresctld
