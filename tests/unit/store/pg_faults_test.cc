// Outcomes of commits when PostgreSQL is killed, closes connections, warns, or has no space.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "store/journal/committer.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using testing::PgServer;
using testing::RandomCluster;
using Clock = std::chrono::steady_clock;

class PgFaultsTest : public ::testing::Test {
 protected:
  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }

  void open(PgJournal& journal) {
    auto opened = journal.open();
    ASSERT_TRUE(opened) << opened.error().message;
    cluster_.start_from(opened->state);
    cluster_.set_epoch(opened->epoch);
  }

  // Drives a batch to its end in real time.
  Committer::Step drive(Committer& committer, Batch batch) {
    committer.begin(std::make_shared<const Batch>(std::move(batch)));
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    for (;;) {
      auto step = committer.advance();
      if (!std::holds_alternative<Committer::RetryAfter>(step)) return step;
      ++waits_;
      if (Clock::now() > deadline) return Error{ErrorCode::internal, "no end within a minute"};
      std::this_thread::sleep_for(std::get<Committer::RetryAfter>(step).wait);
    }
  }

  void expect_each_event_once() {
    EXPECT_EQ(sql("SELECT count(*) || ' ' || count(DISTINCT lsn) || ' ' || min(lsn) || ' ' || "
                  "max(lsn) FROM journal"),
              [&] {
                const std::string n = std::to_string(cluster_.state().lsn.value());
                return n + " " + n + " 1 " + n;
              }());
  }

  void expect_recovered() {
    PgJournal journal(options_);
    auto opened = journal.open();
    ASSERT_TRUE(opened) << opened.error().message;
    ClusterState expected = cluster_.state();
    expected.epoch = opened->epoch;
    EXPECT_EQ(opened->state, expected);
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  RandomCluster cluster_{41};
  int waits_ = 0;
};

TEST_F(PgFaultsTest, ClosedConnectionIsDoubtAndTheBatchIsStoredOnce) {
  PgJournal journal(options_);
  open(journal);
  Committer committer(journal, cluster_.state().epoch);
  ASSERT_TRUE(std::holds_alternative<Committer::Committed>(drive(committer, cluster_.next(5))));

  // Closes the controller's connection repeatedly, each time after some progress.
  constexpr int kCuts = 40;
  std::atomic<bool> stop{false};
  std::atomic<int> commits{0}, cuts{0};
  std::thread cutter([&] {
    std::mt19937 random(42);
    while (cuts < kCuts) {
      const int before = commits;
      if (stop) return;
      commits.wait(before);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      cuts +=
          std::stoi(sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                        "WHERE application_name = 'aresctld'"));
    }
  });
  Epoch epoch = cluster_.state().epoch;
  const auto deadline = Clock::now() + std::chrono::minutes(10);
  while (cuts < kCuts && Clock::now() < deadline && !HasFailure()) {
    const auto step = drive(committer, cluster_.next(1 + cluster_.below(60)));
    if (const auto* error = std::get_if<Error>(&step)) {
      ADD_FAILURE() << error->message;
    } else {
      epoch = std::get<Committer::Committed>(step).epoch;
      ++commits;
      commits.notify_one();
    }
  }
  stop = true;
  ++commits;
  commits.notify_one();
  cutter.join();
  EXPECT_GE(cuts.load(), kCuts);
  EXPECT_GT(epoch.value(), 10u);  // each doubt increments the epoch
  expect_each_event_once();
  expect_recovered();
}

TEST_F(PgFaultsTest, ImmediateStopsLoseNoAcknowledgedCommit) {
  PgJournal journal(options_);
  open(journal);
  Committer committer(journal, cluster_.state().epoch);
  std::atomic<bool> stop{false};
  std::atomic<int> commits{0};
  std::thread controller([&] {
    while (!stop) {
      const auto step = drive(committer, cluster_.next(1 + cluster_.below(60)));
      if (const auto* error = std::get_if<Error>(&step)) {
        ADD_FAILURE() << error->message;
        return;
      }
      ++commits;
    }
  });
  for (int i = 0; i < 5 && !HasFailure(); ++i) {
    const int before = commits;
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    while (commits < before + 3 + 5 * i && Clock::now() < deadline && !HasFailure())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(commits, before);
    server_.stop_immediately();
    server_.start();
  }
  stop = true;
  controller.join();
  EXPECT_GE(waits_, 3);  // commits while the server was stopped
  expect_each_event_once();
  expect_recovered();
}

TEST_F(PgFaultsTest, StoppedServerIsUnavailableNotFinal) {
  PgJournal journal(options_);
  open(journal);
  server_.stop_immediately();
  EXPECT_EQ(journal.open().error().code, ErrorCode::unavailable);
  const auto commit = journal.commit(cluster_.next(1));
  ASSERT_TRUE(commit);
  EXPECT_EQ(*commit, CommitOutcome::doubt);
  EXPECT_EQ(journal.reopen().error().code, ErrorCode::unavailable);
  EXPECT_EQ(journal.contains(Lsn(1)).error().code, ErrorCode::unavailable);
  EXPECT_EQ(journal.blob(BlobId{}).error().code, ErrorCode::unavailable);
  server_.start();
  auto again = journal.reopen();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(*journal.contains(Lsn(1)));
}

TEST_F(PgFaultsTest, WarningDuringTheCommitIsDoubt) {
  PgJournal journal(options_);
  open(journal);
  sql("CREATE FUNCTION grumble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "RAISE WARNING 'something is odd'; RETURN NULL; END $$; "
      "CREATE CONSTRAINT TRIGGER grumble AFTER UPDATE ON controller "
      "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION grumble()");
  const auto outcome = journal.commit(cluster_.next(2));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, CommitOutcome::doubt);
  EXPECT_NE(journal.doubt().find("something is odd"), std::string::npos) << journal.doubt();
  sql("DROP TRIGGER grumble ON controller");
  ASSERT_TRUE(journal.reopen());
  EXPECT_TRUE(*journal.contains(Lsn(2)));
}

TEST_F(PgFaultsTest, SqlErrorIsFinalAndWritesNothing) {
  PgJournal journal(options_);
  open(journal);
  sql("ALTER TABLE journal ADD CONSTRAINT never CHECK (lsn < 3)");
  const auto refused = journal.commit(cluster_.next(4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::internal);
  EXPECT_NE(refused.error().message.find("23514"), std::string::npos) << refused.error().message;
  EXPECT_EQ(sql("SELECT count(*) FROM journal"), "0");
}

// Of an error of the COMMIT itself it is not certain that nothing was written.
TEST_F(PgFaultsTest, NoRoomForTheCommitItselfIsDoubt) {
  PgJournal journal(options_);
  open(journal);
  sql("CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$; "
      "CREATE CONSTRAINT TRIGGER no_room AFTER UPDATE OF lsn ON controller "
      "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION no_room()");
  const Batch batch = cluster_.next(2);
  const auto outcome = journal.commit(batch);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, CommitOutcome::doubt);
  EXPECT_NE(journal.doubt().find("disk is full"), std::string::npos) << journal.doubt();
  ASSERT_TRUE(journal.reopen());
  EXPECT_FALSE(*journal.contains(batch.last));
}

TEST_F(PgFaultsTest, AControllerThatStartsOnAFullDiskIsToldToWaitForSpace) {
  {
    PgJournal journal(options_);
    open(journal);
  }
  sql("CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$; "
      "CREATE TRIGGER no_room AFTER UPDATE ON controller FOR EACH ROW EXECUTE FUNCTION no_room()");
  PgJournal next(options_);
  const auto refused = next.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_NE(refused.error().message.find("disk is full: make room"), std::string::npos)
      << refused.error().message;
  sql("DROP TRIGGER no_room ON controller");
  EXPECT_TRUE(next.open());
}

// A disk that fails may have lost what it confirmed: the controller must not go on as if it were only full.
TEST_F(PgFaultsTest, ErrorOfTheDiskIsFinal) {
  PgJournal journal(options_);
  open(journal);
  sql("CREATE FUNCTION bad_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "RAISE EXCEPTION 'could not fsync file' USING ERRCODE = '58030'; END $$; "
      "CREATE TRIGGER bad_disk AFTER UPDATE OF lsn ON controller FOR EACH ROW "
      "EXECUTE FUNCTION bad_disk()");
  EXPECT_EQ(journal.commit(cluster_.next(2)).error().code, ErrorCode::internal);
}

TEST_F(PgFaultsTest, TakeoverWaitsForACommitInProgress) {
  PgJournal older(options_);
  open(older);
  // The older controller's commit hangs in its last statement and holds the fence.
  sql("CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "PERFORM pg_sleep(0.7); RETURN NULL; END $$; "
      "CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON journal_default "
      "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()");
  sql("CREATE TRIGGER linger_now AFTER UPDATE OF lsn ON controller FOR EACH ROW "
      "EXECUTE FUNCTION linger()");
  Batch batch = cluster_.next(3);
  std::thread committing([&] {
    const auto outcome = older.commit(batch);
    EXPECT_TRUE(outcome);
    if (outcome) {
      EXPECT_EQ(*outcome, CommitOutcome::committed) << older.doubt();
    }
  });
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0" &&
         Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  PgJournal newer(options_);
  const auto opened = newer.open();
  committing.join();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->state.lsn, Lsn(3));  // it has read the commit that it waited for
}

// A separate, small file system for the table, so that it can be filled. Needs the right to mount.
TEST_F(PgFaultsTest, CommitsOnAFullDiskAreOfferedAgainUntilThereIsSpace) {
  const std::string space = server_.directory() + "/small";
  std::filesystem::create_directory(space);
  if (::mount("tmpfs", space.c_str(), "tmpfs", 0,
              ("size=24m,uid=" + std::to_string(server_.uid())).c_str()) != 0)
    GTEST_SKIP() << "no right to mount a small file system";
  struct Unmount {
    const std::string& path;
    ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  } unmount{space};
  sql("CREATE TABLESPACE small LOCATION '" + space + "'");
  PgJournal journal(options_);
  open(journal);
  sql("ALTER TABLE blob SET TABLESPACE small");

  Batch batch;
  Result<CommitOutcome> outcome = CommitOutcome::committed;
  std::uint64_t acknowledged = 0;
  for (int i = 0; i < 50 && outcome && *outcome == CommitOutcome::committed; ++i) {
    batch = cluster_.empty_batch(1);
    cluster_.finish(batch);
    std::string content(1 << 20, ' ');
    for (char& c : content) c = static_cast<char>(cluster_.bits());
    batch.blobs = {{cluster_.blob_id(), std::make_shared<const std::string>(std::move(content))}};
    outcome = journal.commit(batch);
    if (outcome && *outcome == CommitOutcome::committed) acknowledged = batch.last.value();
  }
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::resource_exhausted) << outcome.error().message;
  EXPECT_NE(outcome.error().message.find("disk is full"), std::string::npos);
  EXPECT_GT(acknowledged, 5u);
  EXPECT_EQ(sql("SELECT max(lsn) FROM journal"), std::to_string(acknowledged));

  EXPECT_TRUE(*journal.contains(Lsn(acknowledged))) << "reading goes on";
  EXPECT_FALSE(*journal.contains(batch.last));
  EXPECT_EQ(journal.commit(batch).error().code, ErrorCode::resource_exhausted);

  // With space the same controller goes on where it was, in the same epoch.
  ASSERT_EQ(::mount("tmpfs", space.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  const auto healed = journal.commit(batch);
  ASSERT_TRUE(healed) << healed.error().message;
  EXPECT_EQ(*healed, CommitOutcome::committed) << journal.doubt();
  EXPECT_EQ(*journal.commit(cluster_.next(3)), CommitOutcome::committed);
  EXPECT_EQ(sql("SELECT epoch FROM controller"), "1");
  expect_each_event_once();
  sql("DROP TABLE blob");
  sql("DROP TABLESPACE small");
}

}  // namespace
}  // namespace ares::store
