// Tests: images
#include "store/journal/mem_journal.h"

#include <gtest/gtest.h>

#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using testing::RandomCluster;

TEST(MemJournal, RecoveryRestoresTheState) {
  auto database = std::make_shared<MemDatabase>();
  RandomCluster cluster(21);
  for (int life = 0; life < 5; ++life) {
    MemJournal journal(database);
    const auto opened = journal.open();
    ASSERT_TRUE(opened);
    cluster.set_epoch(opened->epoch);
    ClusterState expected = cluster.state();
    expected.cluster = ClusterId(1);
    ASSERT_EQ(opened->state, expected) << "life " << life;
    cluster.start_from(opened->state);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(journal.commit(cluster.next(10)));
  }
  const auto contents = database->contents();
  ASSERT_EQ(contents.events.size(), cluster.state().lsn.value());
  for (std::size_t i = 0; i < contents.events.size(); ++i)
    ASSERT_EQ(contents.events[i]->lsn, Lsn(i + 1));
}

TEST(MemJournal, OlderSessionIsFenced) {
  auto database = std::make_shared<MemDatabase>();
  MemJournal older(database), newer(database);
  RandomCluster cluster(22);
  cluster.start_from(older.open()->state);
  ASSERT_TRUE(older.commit(cluster.next(2)));
  EXPECT_EQ(newer.open()->epoch, Epoch(2));
  EXPECT_EQ(older.commit(cluster.next(2)).error().code, ErrorCode::stale);
  EXPECT_EQ(older.reopen().error().code, ErrorCode::stale);
  EXPECT_EQ(older.contains(Lsn(1)).error().code, ErrorCode::stale);
  EXPECT_EQ(database->contents().events.size(), 2u);
}

TEST(MemJournal, GapIsDataLoss) {
  auto database = std::make_shared<MemDatabase>();
  MemJournal journal(database);
  RandomCluster cluster(23);
  cluster.start_from(journal.open()->state);
  (void)cluster.next(1);
  EXPECT_EQ(journal.commit(cluster.next(1)).error().code, ErrorCode::data_loss);
}

TEST(MemJournal, RestoredBackupLacksLaterCommits) {
  auto database = std::make_shared<MemDatabase>();
  MemJournal journal(database);
  RandomCluster cluster(24);
  cluster.start_from(journal.open()->state);
  ASSERT_TRUE(journal.commit(cluster.next(5)));
  const auto backup = database->contents();
  ASSERT_TRUE(journal.commit(cluster.next(5)));
  database->restore(backup);
  EXPECT_EQ(database->recovered().lsn, Lsn(5));
}

}  // namespace
}  // namespace ares::store
