// What leaves the database after its retention, piece by piece beside the commits; on a real PostgreSQL.
#include "store/pg/purge.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using testing::PgServer;
using testing::RandomCluster;

const Time kDayOne{std::chrono::sys_days(std::chrono::year(2020) / 3 / 1)};
constexpr std::chrono::days kMonth{30};

class PurgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = journal_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    epoch_ = opened->epoch;
    cluster_.start_from(opened->state);
  }

  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }
  std::string count(const std::string& from) { return sql("SELECT count(*) FROM " + from); }

  void commit_at(Time now, std::size_t events = 10) {
    ClusterState state = cluster_.state();
    state.now = now;
    cluster_.start_from(state);
    const auto done = journal_.commit(cluster_.next(events));
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(*done, CommitOutcome::committed) << journal_.doubt();
  }

  // Removed by each call until there is no more.
  template <class Next>
  std::vector<std::uint64_t> pieces(Next&& next) {
    std::vector<std::uint64_t> removed;
    for (;;) {
      const Result<Purge::Piece> piece = next();
      EXPECT_TRUE(piece) << (piece ? "" : piece.error().message);
      if (!piece) return removed;
      removed.push_back(piece->removed);
      if (!piece->more) return removed;
    }
  }
  std::vector<std::uint64_t> purge_journal(Time before) {
    return pieces([&] { return purge_.journal(epoch_, before); });
  }
  std::vector<std::uint64_t> purge_blobs() {
    return pieces([&] { return purge_.blobs(epoch_); });
  }

  // Blobs named by the digests of first to last.
  void put_blobs(int first, int last, const std::string& created = "'2020-01-01Z'") {
    sql("INSERT INTO blob SELECT sha256(n::text::bytea), 'x', " + created +
        " FROM generate_series(" + std::to_string(first) + ", " + std::to_string(last) + ") n");
  }
  void put_job(int number, const std::string& script, const std::string& environment) {
    sql("INSERT INTO job VALUES (" + std::to_string(number) + ", -1, 1, 'PENDING', " + script +
        ", " + environment + ", 1, '', '')");
  }

  PgConnection connect() {
    auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
    EXPECT_TRUE(connection) << (connection ? "" : connection.error().message);
    return std::move(*connection);
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  Purge purge_{options_};
  Epoch epoch_;
  RandomCluster cluster_{61};
};

TEST_F(PurgeTest, JournalIsPartitionedByDayAndPurgedByAge) {
  for (const int day : {0, 1, 20, 45})
    commit_at(kDayOne + std::chrono::days(day) + std::chrono::hours(1));
  EXPECT_EQ(count("journal_default"), "0");
  EXPECT_EQ(count("journal_20200321"), "10");
  EXPECT_EQ(count("journal"), "40");
  const auto removed = purge_journal(cluster_.state().now - kMonth);
  EXPECT_GT(removed.size(), 1u) << "a partition in each call";
  EXPECT_EQ(sql("SELECT to_regclass('journal_20200301') IS NULL"), "t");
  EXPECT_EQ(sql("SELECT to_regclass('journal_20200315') IS NULL"), "t");
  EXPECT_EQ(sql("SELECT to_regclass('journal_20200321') IS NULL"), "f");
  EXPECT_EQ(count("journal"), "20");
  PgJournal next(options_);
  EXPECT_EQ(next.open()->state.jobs, cluster_.state().jobs) << "recovery reads images only";
}

// The check of an idle controller looks for it.
TEST_F(PurgeTest, LastEventStaysWhateverItsAge) {
  commit_at(kDayOne);
  commit_at(kDayOne + std::chrono::days(10));
  purge_journal(Time{std::chrono::sys_days(std::chrono::year(2100) / 1 / 1)});
  EXPECT_EQ(count("journal"), "10");
  EXPECT_TRUE(*journal_.contains(cluster_.state().lsn));
}

TEST_F(PurgeTest, EventsOutsideOfAllDaysGoInPieces) {
  commit_at(kDayOne);
  sql("INSERT INTO journal SELECT -n, 1, '2019-01-01Z', 'NodeLost', 1, NULL, NULL, '' FROM "
      "generate_series(1, 2300) n");
  EXPECT_EQ(purge_journal(kDayOne - kMonth), (std::vector<std::uint64_t>{1000, 1000, 300}));
  EXPECT_EQ(count("journal_default"), "0");
  EXPECT_EQ(count("journal"), "10");
}

TEST_F(PurgeTest, AuditGoesInPiecesUpToItsRetention) {
  sql("INSERT INTO audit (at, uid, user_name, host, action, subject, outcome) SELECT "
      "'2020-03-01Z'::timestamptz + n * interval '1 minute', 1, 'ada', 'h', 'submit', '', 'ok' "
      "FROM generate_series(0, 2999) n");
  const auto removed =
      pieces([&] { return purge_.audit(epoch_, kDayOne + std::chrono::minutes(1500)); });
  EXPECT_EQ(removed, (std::vector<std::uint64_t>{1000, 500}));
  EXPECT_EQ(sql("SELECT min(at) = '2020-03-01Z'::timestamptz + interval '1500 minutes' FROM audit"),
            "t");
  EXPECT_EQ(count("audit"), "1500");
}

// A controller whose clock is years ahead must not remove what is young.
TEST_F(PurgeTest, NothingIsRemovedThatIsYoungByTheServersClock) {
  sql("INSERT INTO audit (at, uid, user_name, host, action, subject, outcome) VALUES "
      "(now() + interval '1 hour', 1, 'ada', 'h', 'submit', '', 'ok')");
  const Time far{std::chrono::sys_days(std::chrono::year(2200) / 1 / 1)};
  EXPECT_EQ(purge_.audit(epoch_, far)->removed, 0u);
}

TEST_F(PurgeTest, BlobsThatNoJobRefersToGoInPieces) {
  put_blobs(1, 2302);
  put_blobs(3001, 3005, "now()");
  put_job(1, "sha256('1')", "sha256('3001')");
  put_job(2, "sha256('3002')", "sha256('2')");
  EXPECT_EQ(purge_blobs(), (std::vector<std::uint64_t>{1000, 1000, 300}));
  EXPECT_EQ(sql("SELECT count(*) FROM blob WHERE id IN (sha256('1'), sha256('2'))"), "2");
  EXPECT_EQ(count("blob"), "7") << "young ones stay too";
  sql("DELETE FROM job");
  EXPECT_EQ(purge_blobs(), std::vector<std::uint64_t>{2}) << "the next round finds what is new";
}

TEST_F(PurgeTest, ScriptsAndEnvironmentsOfLiveJobsStay) {
  commit_at(kDayOne, 200);
  const std::string used =
      "blob b WHERE EXISTS (SELECT FROM job j WHERE b.id IN (j.script, j.environment))";
  const std::string before = count(used);
  EXPECT_NE(before, "0");
  put_blobs(1, 1);
  sql("UPDATE blob SET created = '2020-01-01Z'");
  purge_blobs();
  EXPECT_EQ(count(used), before);
  EXPECT_EQ(count("blob"), before);
}

TEST_F(PurgeTest, LargeBlobsGoInSmallPieces) {
  put_blobs(1, 3);
  sql("UPDATE blob SET content = repeat('x', 20000000)::bytea, created = '2020-01-01Z'");
  EXPECT_EQ(purge_blobs(), (std::vector<std::uint64_t>{1, 1, 1}));
}

TEST_F(PurgeTest, BlobThatACommitUnderWayWritesStays) {
  put_blobs(1, 2);
  PgConnection commit = connect();
  ASSERT_TRUE(commit.run("BEGIN"));
  ASSERT_TRUE(
      commit.run("INSERT INTO blob (id, content) VALUES (sha256('1'), 'x') "
                 "ON CONFLICT (id) DO UPDATE SET created = now()"));
  EXPECT_EQ(purge_blobs(), std::vector<std::uint64_t>{1}) << "it does not wait";
  ASSERT_TRUE(commit.run("COMMIT"));
  EXPECT_EQ(count("blob WHERE id = sha256('1')"), "1");
}

TEST_F(PurgeTest, BlobThatACommitWritesWhileItIsRemovedIsThereAfterwards) {
  put_blobs(1, 1);
  PgConnection purge = connect(), commit = connect();
  ASSERT_TRUE(purge.run("BEGIN"));
  ASSERT_TRUE(purge.run("SELECT purge_blobs(1, ARRAY(SELECT id FROM blob), interval '1 day')"));
  std::thread committing([&] {
    const auto done = commit.run(
        "INSERT INTO blob (id, content) VALUES (sha256('1'), 'again') "
        "ON CONFLICT (id) DO UPDATE SET created = now()");
    EXPECT_TRUE(done) << done.error().message;
  });
  const std::string waiting =
      "pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO blob%'";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (count(waiting) == "0" && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(count(waiting), "1");
  ASSERT_TRUE(purge.run("COMMIT"));
  committing.join();
  EXPECT_EQ(sql("SELECT content FROM blob"), "\\x616761696e");
}

// Whatever the clocks say: here the commit leaves an old time behind.
TEST_F(PurgeTest, BlobThatGotAReferenceSinceItWasFoundStays) {
  put_blobs(1, 1001);
  ASSERT_EQ(purge_.blobs(epoch_)->removed, 1000u);
  put_job(1, "(SELECT id FROM blob)", "''");
  EXPECT_EQ(purge_.blobs(epoch_)->removed, 0u);
  EXPECT_EQ(count("blob"), "1");
}

// Commits that take and give up references, beside a purge that never pauses and regards all blobs as old.
TEST_F(PurgeTest, NoCommitLosesABlobToAPurgeBesideIt) {
  constexpr int kBlobs = 5, kRounds = 400;
  std::atomic<bool> stop = false;
  std::atomic<int> purged = 0;
  std::thread purging([&] {
    PgConnection connection = connect();
    while (!stop) {
      const auto done =
          connection.query("SELECT purge_blobs(1, ARRAY(SELECT id FROM blob), interval '-1 hour')");
      // A commit may hold the controller's row, or want a blob that the purge holds.
      EXPECT_TRUE(done || done.error().code == ErrorCode::unavailable) << done.error().message;
      if (done) purged += static_cast<int>(done->bigint(0, 0));
    }
  });
  const auto committing = [&](int mine) {
    PgConnection connection = connect();
    for (int round = 0; round < kRounds; ++round) {
      const std::string blob = "sha256('" + std::to_string(round % kBlobs) + "')";
      const std::string job = std::to_string(mine);
      const auto ok = [&](const Status& done) { ASSERT_TRUE(done) << done.error().message; };
      ok(
          connection.run("BEGIN; SELECT FROM controller FOR UPDATE; INSERT INTO blob (id, content) "
                         "VALUES (" +
                         blob +
                         ", 'x') ON CONFLICT (id) DO UPDATE SET created = now(); "
                         "INSERT INTO job VALUES (" +
                         job + ", -1, 1, 'PENDING', " + blob + ", '', 1, '', ''); COMMIT"));
      const auto there = connection.query(("SELECT FROM blob WHERE id = " + blob).c_str());
      ASSERT_TRUE(there) << there.error().message;
      ASSERT_EQ(there->size(), 1) << "round " << round;
      ok(connection.run("DELETE FROM job WHERE job_id = " + job));
    }
  };
  std::thread other([&] { committing(2); });
  committing(1);
  other.join();
  stop = true;
  purging.join();
  EXPECT_GT(purged, 0);
}

TEST_F(PurgeTest, SupersededControllerRemovesNothing) {
  commit_at(kDayOne);
  commit_at(kDayOne + std::chrono::days(10));
  put_blobs(1, 3);
  sql("INSERT INTO audit (at, uid, user_name, host, action, subject, outcome) VALUES "
      "('2020-01-01Z', 1, 'ada', 'h', 'submit', '', 'ok')");
  PgJournal successor(options_);
  ASSERT_TRUE(successor.open());
  const Time later = kDayOne + std::chrono::days(9);
  EXPECT_EQ(purge_.journal(epoch_, later).error().code, ErrorCode::stale);
  EXPECT_EQ(purge_.audit(epoch_, later).error().code, ErrorCode::stale);
  EXPECT_EQ(purge_.blobs(epoch_).error().code, ErrorCode::stale);
  EXPECT_EQ(count("journal") + " " + count("audit WHERE user_name = 'ada'") + " " +
                count("blob WHERE content = 'x'"),
            "20 1 3");
}

TEST_F(PurgeTest, LongCommitIsNotWaitedFor) {
  put_blobs(1, 3);
  PgConnection commit = connect();
  ASSERT_TRUE(commit.run("BEGIN; SELECT FROM controller FOR UPDATE"));
  EXPECT_EQ(purge_.blobs(epoch_).error().code, ErrorCode::unavailable);
  ASSERT_TRUE(commit.run("ROLLBACK"));
  EXPECT_EQ(purge_.blobs(epoch_)->removed, 3u);
}

TEST_F(PurgeTest, NeitherPurgeNorCommitsWaitForAReaderOfTheJournal) {
  commit_at(kDayOne);
  commit_at(kDayOne + std::chrono::days(10));
  PgConnection reader = connect();
  ASSERT_TRUE(reader.run("BEGIN; SELECT count(*) FROM journal"));
  const Time later = kDayOne + std::chrono::days(9);
  EXPECT_EQ(purge_.journal(epoch_, later).error().code, ErrorCode::unavailable);
  EXPECT_FALSE(*purge_.make_partitions(kDayOne + std::chrono::days(100)));
  // A day without a partition: its events go to the default partition, which the reader holds, too.
  commit_at(kDayOne + std::chrono::days(200));
  EXPECT_EQ(count("journal_default"), "10");
  ASSERT_TRUE(reader.run("COMMIT"));
  EXPECT_TRUE(*purge_.make_partitions(kDayOne + std::chrono::days(200)));
  EXPECT_EQ(count("journal_default"), "0");
  EXPECT_GT(purge_.journal(epoch_, later)->removed, 0u);
}

TEST_F(PurgeTest, PartitionsAreMadeMoreThanTheJournalNeeds) {
  ASSERT_TRUE(*purge_.make_partitions(kDayOne));
  const std::string made = count("pg_inherits WHERE inhparent = 'journal'::regclass");
  commit_at(kDayOne + std::chrono::days(2));
  EXPECT_EQ(count("pg_inherits WHERE inhparent = 'journal'::regclass"), made);
  EXPECT_EQ(sql("SELECT to_regclass('attempt_done_202006') IS NULL"), "f");
}

}  // namespace
}  // namespace ares::store
