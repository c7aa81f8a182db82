#include "store/journal/committer.h"

#include <gtest/gtest.h>

#include <deque>

#include "store/journal/faulty_journal.h"
#include "store/journal/mem_journal.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using testing::RandomCluster;
using Fault = FaultyJournal::Fault;
using Operation = FaultyJournal::Operation;

// A controller's journal on a database in memory, with faults injected in order.
class CommitterTest : public ::testing::Test {
 protected:
  CommitterTest() {
    auto opened = journal_.open();
    EXPECT_TRUE(opened);
    cluster_.start_from(opened->state);
    epoch_ = opened->epoch;
    committer_.emplace(journal_, epoch_);
    operations_.clear();
  }

  // Drives one batch to its end; records the waits.
  Committer::Step drive(std::size_t events = 3) {
    committer_->begin(std::make_shared<const Batch>(cluster_.next(events)));
    for (;;) {
      Committer::Step step = committer_->advance();
      if (!std::holds_alternative<Committer::RetryAfter>(step)) return step;
      waits_.push_back(std::get<Committer::RetryAfter>(step).wait);
      if (waits_.size() > 100) return Error{ErrorCode::internal, "it never ends"};
    }
  }

  // Every event is stored exactly once, and the images are those of the last batch.
  void expect_durable() {
    const auto contents = database_->contents();
    ASSERT_EQ(contents.events.size(), cluster_.state().lsn.value());
    for (std::size_t i = 0; i < contents.events.size(); ++i)
      ASSERT_EQ(contents.events[i]->lsn, Lsn(i + 1));
    ClusterState expected = cluster_.state();
    expected.epoch = contents.epoch;
    EXPECT_EQ(database_->recovered(), expected);
  }

  std::deque<Fault> faults_;
  std::vector<Operation> operations_;
  std::vector<Duration> waits_;
  std::shared_ptr<MemDatabase> database_ = std::make_shared<MemDatabase>();
  FaultyJournal journal_{std::make_unique<MemJournal>(database_),
                         [this](Operation operation, const Batch*) {
                           operations_.push_back(operation);
                           if (faults_.empty()) return Fault::none;
                           const Fault fault = faults_.front();
                           faults_.pop_front();
                           return fault;
                         }};
  RandomCluster cluster_{31};
  Epoch epoch_;
  std::optional<Committer> committer_;
};

TEST_F(CommitterTest, WithoutFaultsOneCommitIsEnough) {
  const auto step = drive();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(std::get<Committer::Committed>(step).epoch, epoch_);
  EXPECT_EQ(operations_, std::vector{Operation::commit});
  EXPECT_FALSE(committer_->under_way());
  expect_durable();
}

TEST_F(CommitterTest, CommitWithALostReplyIsFoundInTheNextEpoch) {
  faults_ = {Fault::after};
  const auto step = drive();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(std::get<Committer::Committed>(step).epoch, epoch_.next());
  EXPECT_EQ(operations_, (std::vector{Operation::commit, Operation::reopen, Operation::contains}));
  EXPECT_TRUE(waits_.empty());
  expect_durable();
}

TEST_F(CommitterTest, LostBatchIsWrittenAgainWithTheSameRows) {
  faults_ = {Fault::before};
  const auto step = drive();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(operations_, (std::vector{Operation::commit, Operation::reopen, Operation::contains,
                                      Operation::commit}));
  expect_durable();
  EXPECT_EQ(database_->contents().events.front()->epoch,
            epoch_);  // rows keep the epoch of their engine
}

TEST_F(CommitterTest, RefusalIsFinalAndTheBatchIsNotDone) {
  faults_ = {Fault::refuse};
  const auto step = drive();
  ASSERT_TRUE(std::holds_alternative<Error>(step));
  EXPECT_TRUE(committer_->under_way());
  EXPECT_TRUE(database_->contents().events.empty());
}

TEST_F(CommitterTest, WithoutRoomTheSameBatchIsOfferedAgainInTheSameEpoch) {
  faults_ = {Fault::full, Fault::full, Fault::full};
  const auto step = drive();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(std::get<Committer::Committed>(step).epoch, epoch_);
  EXPECT_EQ(operations_, std::vector(4, Operation::commit));
  EXPECT_EQ(waits_, (std::vector{RetryPace{}.first, RetryPace{}.first * 2, RetryPace{}.first * 4}));
  expect_durable();
}

TEST_F(CommitterTest, WithoutRoomForTheNextEpochADoubtWaits) {
  faults_ = {Fault::after, Fault::full, Fault::full};
  const auto step = drive();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(waits_.size(), 2u);
  expect_durable();
}

TEST_F(CommitterTest, ATakeoverIsNoticedWhileThereIsNoRoom) {
  faults_ = {Fault::full};
  committer_->begin(std::make_shared<const Batch>(cluster_.next(3)));
  const auto full = committer_->advance();
  ASSERT_TRUE(std::holds_alternative<Committer::RetryAfter>(full));
  EXPECT_EQ(std::get<Committer::RetryAfter>(full).why.code, ErrorCode::resource_exhausted);
  MemJournal other(database_);
  ASSERT_TRUE(other.open());
  const auto step = committer_->advance();
  ASSERT_TRUE(std::holds_alternative<Error>(step));
  EXPECT_EQ(std::get<Error>(step).code, ErrorCode::stale);
}

TEST_F(CommitterTest, TakeoverDuringDoubtIsFinal) {
  MemJournal other(database_);
  ASSERT_TRUE(journal_.open());  // take the epoch, then lose the reply of a commit
  committer_.emplace(journal_, Epoch(2));
  faults_ = {Fault::after, Fault::before};
  committer_->begin(std::make_shared<const Batch>(cluster_.next(3)));
  ASSERT_TRUE(std::holds_alternative<Committer::RetryAfter>(committer_->advance()));
  ASSERT_TRUE(other.open());
  const auto step = committer_->advance();
  ASSERT_TRUE(std::holds_alternative<Error>(step));
  EXPECT_EQ(std::get<Error>(step).code, ErrorCode::stale);
}

TEST_F(CommitterTest, RetryWaitsGrowToTheMaximumAndRestartWithEachBatch) {
  faults_ = {Fault::before};
  faults_.insert(faults_.end(), 12, Fault::before);
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(drive()));
  ASSERT_EQ(waits_.size(), 12u);
  EXPECT_EQ(waits_.front(), RetryPace{}.first);
  EXPECT_EQ(waits_[1], RetryPace{}.first * 2);
  EXPECT_EQ(waits_.back(), RetryPace{}.longest);
  waits_.clear();
  faults_ = {Fault::before, Fault::before};
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(drive()));
  EXPECT_EQ(waits_, std::vector{RetryPace{}.first});
  expect_durable();
}

// Every sequence of up to six outcomes, each of none, before, after, full: 4^6 histories.
TEST_F(CommitterTest, EachEventIsStoredOnceInEveryHistoryOfBrokenConnectionsAndFullDisks) {
  constexpr Fault kOutcomes[] = {Fault::none, Fault::before, Fault::after, Fault::full};
  constexpr int kLength = 6;
  int histories = 1;
  for (int i = 0; i < kLength; ++i) histories *= 4;
  for (int history = 0; history < histories; ++history) {
    faults_.clear();
    waits_.clear();
    for (int i = 0, rest = history; i < kLength; ++i, rest /= 4)
      faults_.push_back(kOutcomes[rest % 4]);
    const auto step = drive(1);
    ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step)) << "history " << history;
    ASSERT_GE(std::get<Committer::Committed>(step).epoch, epoch_);
    epoch_ = std::get<Committer::Committed>(step).epoch;
    ASSERT_EQ(database_->contents().images.lsn, cluster_.state().lsn) << "history " << history;
  }
  faults_.clear();
  expect_durable();
}

TEST_F(CommitterTest, CheckOfALiveControllerWritesNothing) {
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(drive()));
  operations_.clear();
  committer_->begin_check(cluster_.state().lsn);
  const auto step = committer_->advance();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(operations_, std::vector{Operation::contains});
  EXPECT_FALSE(committer_->under_way());
  expect_durable();
}

TEST_F(CommitterTest, CheckOfASupersededControllerIsFinal) {
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(drive()));
  MemJournal successor(database_);
  ASSERT_TRUE(successor.open());
  committer_->begin_check(cluster_.state().lsn);
  const auto step = committer_->advance();
  ASSERT_TRUE(std::holds_alternative<Error>(step));
  EXPECT_EQ(std::get<Error>(step).code, ErrorCode::stale);
}

TEST_F(CommitterTest, CheckOverABrokenConnectionReconnects) {
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(drive()));
  faults_ = {Fault::before};
  committer_->begin_check(cluster_.state().lsn);
  const auto step = committer_->advance();
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(step));
  EXPECT_EQ(std::get<Committer::Committed>(step).epoch, epoch_.next());
}

}  // namespace
}  // namespace ares::store
