// Tests: catalogue, last_of_each, pg_accounts, pg_rows, store/load, pg_task
#include "store/pg/pg_journal.h"

#include <gtest/gtest.h>

#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using testing::PgServer;
using testing::RandomCluster;

class PgJournalTest : public ::testing::Test {
 protected:
  Opened must_open(PgJournal& journal) {
    auto opened = journal.open();
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *opened : Opened{};
  }
  void must_commit(PgJournal& journal, const Batch& batch) {
    auto done = journal.commit(batch);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(*done, CommitOutcome::committed) << journal.doubt();
  }
  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }

  PgServer server_;
  PgOptions options_ = server_.new_database();
};

TEST_F(PgJournalTest, NewDatabaseOpensEmpty) {
  PgJournal journal(options_);
  const Opened opened = must_open(journal);
  EXPECT_EQ(opened.epoch, Epoch(1));
  EXPECT_EQ(opened.state.lsn, Lsn(0));
  EXPECT_TRUE(opened.state.jobs.empty());
  EXPECT_EQ(opened.state.cluster, options_.cluster);
  EXPECT_EQ(opened.system.size(), 36u);
}

TEST_F(PgJournalTest, RecoveryRestoresTheState) {
  RandomCluster cluster(11);
  for (int life = 0; life < 4; ++life) {
    PgJournal journal(options_);
    const Opened opened = must_open(journal);
    cluster.set_epoch(opened.epoch);
    ClusterState expected = cluster.state();
    expected.cluster = options_.cluster;
    expected.history = opened.system;  // the first one is named for the database
    ASSERT_EQ(opened.state, expected) << "life " << life;
    cluster.start_from(opened.state);
    for (int i = 0; i < 25; ++i) must_commit(journal, cluster.next(1 + cluster.below(40)));
  }
  EXPECT_EQ(sql("SELECT count(*) FROM journal"), std::to_string(cluster.state().lsn.value()));
}

TEST_F(PgJournalTest, OlderControllerIsFenced) {
  RandomCluster cluster(12);
  PgJournal older(options_);
  cluster.start_from(must_open(older).state);
  must_commit(older, cluster.next(5));

  PgJournal newer(options_);
  const Opened taken = must_open(newer);
  EXPECT_EQ(taken.epoch, Epoch(2));

  const auto refused = older.commit(cluster.next(5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::stale) << refused.error().message;
  EXPECT_NE(refused.error().message.find("AR001"), std::string::npos) << refused.error().message;
  EXPECT_EQ(sql("SELECT count(*) FROM journal"), "5");

  const auto again = older.reopen();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::stale);
}

TEST_F(PgJournalTest, GapIsDataLossAndWritesNothing) {
  RandomCluster cluster(13);
  PgJournal journal(options_);
  cluster.start_from(must_open(journal).state);
  must_commit(journal, cluster.next(3));
  (void)cluster.next(2);  // never committed
  const auto refused = journal.commit(cluster.next(4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::data_loss) << refused.error().message;
  EXPECT_EQ(sql("SELECT count(*) FROM journal"), "3");
}

TEST_F(PgJournalTest, BlobsAreReadByteForByte) {
  PgJournal journal(options_);
  RandomCluster cluster(14);
  cluster.start_from(must_open(journal).state);
  Batch batch = cluster.empty_batch(1);
  cluster.finish(batch);
  std::string content(1 << 20, '\0');
  for (char& c : content) c = static_cast<char>(cluster.bits());
  const auto id = cluster.blob_id();
  batch.blobs = {{id, std::make_shared<const std::string>(content)},
                 {id, std::make_shared<const std::string>(content)}};
  must_commit(journal, batch);

  const auto read = journal.blob(id);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(**read, content);
  const auto absent = journal.blob(BlobId{});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
}

TEST_F(PgJournalTest, MissingRowIsDataLoss) {
  PgJournal journal(options_);
  RandomCluster cluster(15);
  cluster.start_from(must_open(journal).state);
  Batch first = cluster.next(30);
  ASSERT_FALSE(first.jobs.empty());
  must_commit(journal, first);
  sql("DELETE FROM job");
  Batch second = cluster.empty_batch(1);
  cluster.finish(second);
  second.jobs = {first.jobs.back()};
  const auto refused = journal.commit(second);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::data_loss) << refused.error().message;
}

}  // namespace
}  // namespace ares::store
