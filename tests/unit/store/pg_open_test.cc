// Tests: pg_takeover, store/load
// Which databases a controller accepts at its start, and the advice when it refuses one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "store/pg/migrations.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using ::testing::HasSubstr;
using testing::PgServer;
using testing::RandomCluster;

class PgOpenTest : public ::testing::Test {
 protected:
  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }

  Result<Opened> open(const PgOptions& options) { return PgJournal(options).open(); }

  void expect_refused(const PgOptions& options, ErrorCode code, const std::string& text) {
    const auto opened = open(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_THAT(opened.error().message, HasSubstr(text));
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
};

TEST_F(PgOpenTest, MigrationsRunOnceAndAreRecorded) {
  ASSERT_TRUE(open(options_));
  ASSERT_TRUE(open(options_));
  EXPECT_EQ(sql("SELECT count(*) FROM schema_version"), std::to_string(migrations().size()));
  EXPECT_EQ(sql("SELECT name FROM schema_version ORDER BY position LIMIT 1"), "0001_foundation");
  EXPECT_EQ(sql("SELECT epoch FROM controller"), "2");
}

TEST_F(PgOpenTest, NewerDatabaseIsRefusedWithTheNameOfItsMigration) {
  ASSERT_TRUE(open(options_));
  sql("INSERT INTO schema_version VALUES (900, '0900_from_the_future', 'x', now(), '9.9')");
  expect_refused(options_, ErrorCode::failed_precondition, "0900_from_the_future");
  expect_refused(options_, ErrorCode::failed_precondition, "9.9");
  EXPECT_EQ(sql("SELECT epoch FROM controller"), "1");  // the epoch was not taken
}

TEST_F(PgOpenTest, ChangedMigrationIsRefused) {
  ASSERT_TRUE(open(options_));
  sql("UPDATE schema_version SET checksum = 'other'");
  expect_refused(options_, ErrorCode::failed_precondition, "0001_foundation");
}

TEST_F(PgOpenTest, FailedMigrationIsRolledBack) {
  auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
  ASSERT_TRUE(connection) << connection.error().message;
  const Migration broken[] = {{"0001_good", "a", "CREATE TABLE good (x integer)"},
                              {"0002_bad", "b", "CREATE TABLE bad (x integer); SELECT nonsense"}};
  const auto done = migrate(*connection, broken);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("0002_bad"));
  EXPECT_EQ(sql("SELECT to_regclass('good') IS NOT NULL"), "t");
  EXPECT_EQ(sql("SELECT to_regclass('bad') IS NOT NULL"), "f");
  EXPECT_EQ(sql("SELECT count(*) FROM schema_version"), "1");
}

TEST_F(PgOpenTest, ConcurrentControllersMigrateOnceAndOneMayCommit) {
  std::vector<std::unique_ptr<PgJournal>> journals;
  std::vector<std::thread> controllers;
  std::atomic<int> opened{0}, overtaken{0};
  for (int i = 0; i < 6; ++i) journals.push_back(std::make_unique<PgJournal>(options_));
  for (auto& journal : journals)
    controllers.emplace_back([&] {
      const auto result = journal->open();
      if (result) {
        ++opened;
      } else {
        // Another controller took over while this one was loading: this is correct too.
        EXPECT_EQ(result.error().code, ErrorCode::stale) << result.error().message;
        ++overtaken;
      }
    });
  for (auto& controller : controllers) controller.join();
  EXPECT_EQ(opened + overtaken, 6);
  EXPECT_EQ(sql("SELECT epoch FROM controller"), "6");
  EXPECT_EQ(sql("SELECT count(*) FROM schema_version"), std::to_string(migrations().size()));

  int may_commit = 0;
  RandomCluster cluster(56);
  const Batch batch = cluster.next(1);
  for (auto& journal : journals) {
    const auto done = journal->commit(batch);
    if (done && *done == CommitOutcome::committed) ++may_commit;
  }
  EXPECT_EQ(may_commit, 1);
}

TEST_F(PgOpenTest, UnsafeServerSettingsAreRefusedUnlessAccepted) {
  server_.stop_immediately();
  server_.set("fsync", "off");
  server_.start();
  expect_refused(options_, ErrorCode::failed_precondition, "fsync=off");
  server_.stop_immediately();
  server_.set("fsync", "on");
  server_.set("full_page_writes", "off");
  server_.start();
  expect_refused(options_, ErrorCode::failed_precondition, "full_page_writes=off");
  options_.accept_data_loss = true;
  EXPECT_TRUE(open(options_));
}

TEST_F(PgOpenTest, SynchronousCommitIsSetForTheJournal) {
  server_.stop_immediately();
  server_.set("synchronous_commit", "off");
  server_.start();
  PgJournal journal(options_);
  ASSERT_TRUE(journal.open());
  // The trigger records the setting of the journal's session during its commit.
  sql("CREATE TABLE seen (value text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END "
      "$$; "
      "CREATE TRIGGER note AFTER UPDATE ON controller FOR EACH ROW EXECUTE FUNCTION note()");
  RandomCluster cluster(51);
  ASSERT_TRUE(journal.commit(cluster.next(1)));
  EXPECT_EQ(sql("SELECT value FROM seen"), "on");
}

TEST_F(PgOpenTest, SeveralHostsNeedASynchronousStandby) {
  options_.host += "," + options_.host;
  expect_refused(options_, ErrorCode::failed_precondition, "synchronous_standby_names");
  options_.accept_data_loss = true;
  EXPECT_TRUE(open(options_));
}

TEST_F(PgOpenTest, EncodingOtherThanUtf8IsRefused) {
  PgOptions latin = options_;
  latin.database = "latin";
  sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  expect_refused(latin, ErrorCode::failed_precondition, "LATIN1");
}

TEST_F(PgOpenTest, MissingDatabaseOrUserIsFinalAndAStoppedServerIsNot) {
  PgOptions wrong = options_;
  wrong.database = "nowhere";
  expect_refused(wrong, ErrorCode::failed_precondition, "nowhere");
  wrong = options_;
  wrong.user = "nobody_here";
  expect_refused(wrong, ErrorCode::failed_precondition, "nobody_here");
  wrong = options_;
  wrong.password_file = server_.directory() + "/no-such-file";
  expect_refused(wrong, ErrorCode::failed_precondition, "no-such-file");
  wrong = options_;
  wrong.host = server_.directory() + "/data";
  expect_refused(wrong, ErrorCode::unavailable, "cannot connect");
}

TEST_F(PgOpenTest, DatabaseOfAnotherClusterIsRefused) {
  ASSERT_TRUE(open(options_));
  options_.cluster = ClusterId(2);
  expect_refused(options_, ErrorCode::failed_precondition, "cluster_id 1");
}

TEST_F(PgOpenTest, OlderCopyIsRefusedOrContinuesAboveTheMarkIfAccepted) {
  RandomCluster cluster(52);
  HighWaterMark seen;
  {
    PgJournal journal(options_);
    const auto opened = journal.open();
    ASSERT_TRUE(opened);
    cluster.start_from(opened->state);
    ASSERT_TRUE(journal.commit(cluster.next(10)));
    EXPECT_EQ(opened->state.history, opened->system) << "the first history";
    seen.system = opened->system;
    seen.position = {opened->state.history, Epoch(opened->epoch.value() + 5), opened->holder,
                     Lsn(500), JobId(70)};
    seen.next_node_id = NodeId(8);
    seen = with_reserve(seen, 100);
  }
  options_.seen = seen;
  expect_refused(options_, ErrorCode::data_loss, "--accept-rollback");
  EXPECT_EQ(sql("SELECT epoch FROM controller"), "1");

  options_.accept_rollback = true;
  PgJournal journal(options_);
  const auto opened = journal.open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_GT(opened->epoch, seen.position.epoch);
  EXPECT_GT(opened->state.lsn, seen.reserved_lsn);
  EXPECT_GE(opened->state.next_job_id, seen.reserved_job_id);
  EXPECT_EQ(opened->state.jobs, cluster.state().jobs);
  EXPECT_EQ(database_of(opened->state.history), opened->system);
  EXPECT_NE(opened->state.history, seen.position.history) << "another history begins";
  EXPECT_EQ(opened->state.past_histories, (std::vector{seen.position.history}));

  // The journal continues from there.
  cluster.start_from(opened->state);
  const auto committed = journal.commit(cluster.next(3));
  ASSERT_TRUE(committed) << committed.error().message;
}

TEST_F(PgOpenTest, EveryAcceptedRollbackBeginsAnotherHistoryAboveAllThatMayHaveBeenGiven) {
  const auto first = open(options_);
  ASSERT_TRUE(first);
  options_.accept_rollback = true;  // without a mark: how much is missing is not known
  const auto second = open(options_);
  ASSERT_TRUE(second);
  EXPECT_GT(second->state.next_job_id, JobId(kIdsBetweenHeartbeats));
  const auto third = open(options_);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->state.past_histories,
            (std::vector{first->state.history, second->state.history}));

  // A copy from before is known as such, whatever it has come to.
  options_.accept_rollback = false;
  options_.seen = with_reserve(
      {third->system, {"another branch", Epoch(1), "", Lsn(1), JobId(1)}, NodeId(1), {}, {}}, 1);
  expect_refused(options_, ErrorCode::data_loss, "older copy");
  options_.seen->position.history = second->state.history;
  EXPECT_TRUE(open(options_)) << "another controller has accepted the rollback";
}

TEST_F(PgOpenTest, NumbersSetAsideAreNotGivenAgainAfterAPowerLoss) {
  const auto first = open(options_);
  ASSERT_TRUE(first);
  HighWaterMark seen{first->system,
                     {first->state.history, first->epoch, "", first->state.lsn, JobId(1)},
                     NodeId(1),
                     {},
                     {}};
  options_.seen = with_reserve(seen, 100);
  EXPECT_EQ(open(options_)->state.next_job_id, JobId(1));
  options_.seen->may_lack_last_moments = true;
  EXPECT_EQ(open(options_)->state.next_job_id, JobId(101));
}

TEST_F(PgOpenTest, OtherDatabaseOfTheSameNameIsRefused) {
  const auto first = open(options_);
  ASSERT_TRUE(first);
  PgOptions other = server_.new_database();
  other.seen =
      HighWaterMark{first->system, {"", first->epoch, "", Lsn(0), JobId(1)}, NodeId(1), {}, {}};
  expect_refused(other, ErrorCode::failed_precondition, "another database");
}

TEST_F(PgOpenTest, DamagedImageIsNamed) {
  RandomCluster cluster(53);
  {
    PgJournal journal(options_);
    cluster.start_from(journal.open()->state);
    do {
      ASSERT_TRUE(journal.commit(cluster.next(40)));
    } while (sql("SELECT count(*) FROM node") == "0");
  }
  sql("UPDATE node SET body = '\\xffff' WHERE node_id = (SELECT min(node_id) FROM node)");
  expect_refused(options_, ErrorCode::data_loss, "node ");
}

TEST_F(PgOpenTest, ReportsCannotReadBlobsOrImages) {
  ASSERT_TRUE(open(options_));
  for (const char* allowed : {"attempt", "attempt_done", "attempt_tres", "tres", "association"})
    EXPECT_EQ(
        sql(std::string("SELECT has_table_privilege('ares_report', '") + allowed + "', 'SELECT')"),
        "t")
        << allowed;
  for (const char* secret : {"blob", "job", "request", "journal", "controller"})
    EXPECT_EQ(
        sql(std::string("SELECT has_table_privilege('ares_report', '") + secret + "', 'SELECT')"),
        "f")
        << secret;
}

TEST_F(PgOpenTest, NewPartitionTakesRowsFromTheDefaultPartition) {
  ASSERT_TRUE(open(options_));
  sql("INSERT INTO journal VALUES (1, 1, '2031-05-05 12:00Z', 'NodeLost', 1, NULL, NULL, '')");
  EXPECT_EQ(sql("SELECT count(*) FROM journal_default"), "1");
  sql("SELECT journal_prepare('2031-05-05 01:00Z', 1)");
  EXPECT_EQ(sql("SELECT count(*) FROM journal_default"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM journal_20310505"), "1");
  sql("SELECT journal_prepare('2031-05-05 01:00Z', 1)");  // again: no effect
}

// Rows of the first tables of release 0.1 are moved to the tables that replaced them.
TEST_F(PgOpenTest, AccountingRowsMoveToTheTablesByMonth) {
  {
    auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
    ASSERT_TRUE(connection) << connection.error().message;
    ASSERT_TRUE(migrate(*connection, migrations().first(1)));
  }
  const auto insert = [&](int job, int attempt, const std::string& state, const std::string& reason,
                          const std::string& ended) {
    sql("INSERT INTO attempt SELECT " + std::to_string(job) + ", -1, " + std::to_string(attempt) +
        ", " + std::to_string(job) + ", NULL, 'n', 'u', 1000, 100, 'a', 'q', 'p', '" + state +
        "', '" + reason +
        "', NULL, '2026-01-31 20:00Z', NULL, '2026-01-31 21:00Z', "
        "'2026-01-31 21:00Z', " +
        ended +
        ", 0, 0, 1, 4, 'n1', 'cpu=4', 'cpu=4', 1, 2, 3, NULL, 0, "
        "'/', 'h', 'UTC', 1, NULL, NULL, NULL, NULL");
  };
  insert(1, 1, "COMPLETED", "None", "'2026-01-31 23:59:59.999999Z'");
  insert(2, 1, "CANCELLED", "Requeued", "'2026-02-01 00:00Z'");
  insert(2, 2, "RUNNING", "None", "NULL");
  insert(3, 1, "NODE_FAIL", "None", "'2026-03-05 00:00Z'");
  insert(4, 1, "COMPLETING", "None", "'2026-03-06 00:00Z'");
  sql("INSERT INTO attempt_tres VALUES (1, -1, 1, 0, 5, 4, '2026-01-31 21:00Z', NULL), "
      "(1, -1, 1, 0, 1, 4, '2026-01-31 21:00Z', NULL)");
  // Job 3 waits for another attempt.
  sql("INSERT INTO job VALUES (3, -1, 3, 'PENDING', '', '', 1, '', '')");

  auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
  ASSERT_TRUE(connection) << connection.error().message;
  const auto done = migrate(*connection, migrations());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(sql("SELECT string_agg(job_id || ':' || attempt || ' ' || state || ' ' || superseded, "
                "', ' ORDER BY job_id, attempt) FROM attempt"),
            "1:1 COMPLETED false, 2:1 REQUEUED true, 2:2 RUNNING false, 3:1 NODE_FAIL true, "
            "4:1 COMPLETING false");
  EXPECT_EQ(sql("SELECT string_agg(job_id::text, ',' ORDER BY job_id) FROM attempt_live"), "2,4");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_live WHERE ended IS NOT NULL"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_done_202601"), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_done_202602"), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_done_default"), "0");
  EXPECT_EQ(
      sql("SELECT string_agg(tres_id || '=' || count, ' ' ORDER BY tres_id) FROM attempt_tres"),
      "1=4 5=4");
  EXPECT_EQ(sql("SELECT to_regclass('attempt_0001') IS NULL"), "t");
}

// Counts of GPUs from releases that knew only whole GPUs become thousandths.
TEST_F(PgOpenTest, CountsOfGpusBecomeThousandths) {
  {
    auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
    ASSERT_TRUE(connection) << connection.error().message;
    ASSERT_TRUE(migrate(*connection, migrations().first(5)));
  }
  sql("INSERT INTO tres VALUES (1, 'cpu'), (2, 'mem'), (1001, 'gres/gpu'), (1002, "
      "'gres/gpu:a100'), "
      "(1003, 'license/x')");
  const auto insert = [&](const std::string& table, int job, const std::string& ended,
                          const std::string& held) {
    sql("INSERT INTO " + table +
        " (job_id, task, own_id, uid, gid, submitted, ended, user_cpu, system_cpu, max_rss, cpus, "
        "restarts, cluster_id, attempt, exit_code, exit_signal, node_count, superseded, name, "
        "user_name, account, qos, partition, state, reason, node_list, requested_tres, "
        "allocated_tres, work_dir, submit_host, submit_zone, tres_ids, tres_counts) "
        "VALUES (" +
        std::to_string(job) + ", -1, 1, 1, 1, '2041-05-05Z', " + ended +
        ", 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, false, 'n', 'u', 'a', 'q', 'p', 'RUNNING', 'None', '', "
        "'', '', '/', 'h', 'UTC', " +
        held + ")");
  };
  insert("attempt_live", 1, "NULL", "'{1,1001,1002}', '{4,2,2}'");
  insert("attempt_done", 2, "'2041-05-05Z'", "'{2,1001,1003}', '{500,8,3}'");
  insert("attempt_done", 3, "'2041-05-05Z'", "'{1}', '{7}'");
  insert("attempt_done", 4, "'2041-05-05Z'", "NULL, NULL");

  auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
  ASSERT_TRUE(connection) << connection.error().message;
  const auto done = migrate(*connection, migrations());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(sql("SELECT string_agg(job_id || ':' || tres_counts::text, ' ' ORDER BY job_id) "
                "FROM attempt WHERE tres_counts IS NOT NULL"),
            "1:{4,2000,2000} 2:{500,8000,3} 3:{7}");
}

TEST_F(PgOpenTest, MonthsAreCreatedAheadAndTakeRowsFromTheDefault) {
  ASSERT_TRUE(open(options_));
  sql("INSERT INTO attempt_done (job_id, task, own_id, uid, gid, submitted, ended, user_cpu, "
      "system_cpu, max_rss, cpus, restarts, cluster_id, attempt, exit_code, exit_signal, "
      "node_count, superseded, name, user_name, account, qos, partition, state, reason, node_list, "
      "requested_tres, allocated_tres, work_dir, submit_host, submit_zone) "
      "VALUES (1, -1, 1, 1, 1, '2041-05-05Z', '2041-05-05Z', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, false, "
      "'n', 'u', 'a', 'q', 'p', 'CANCELLED', 'None', '', '', '', '/', 'h', 'UTC')");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_done_default"), "1");
  EXPECT_EQ(sql("SELECT attempt_prepare('2041-05-31 23:00Z', 1)"), "t");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_done_default"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_done_204105"), "1");
  EXPECT_EQ(sql("SELECT to_regclass('attempt_done_204106') IS NOT NULL"), "t");
  EXPECT_EQ(sql("SELECT attempt_prepare('2041-05-31 23:00Z', 1)"), "t");  // again: no effect
}

TEST_F(PgOpenTest, ReadingReportDoesNotBlockTheJournal) {
  PgJournal journal(options_);
  RandomCluster cluster(57);
  auto opened = journal.open();
  ASSERT_TRUE(opened);
  auto report = PgConnection::connect(options_, PgConnection::Use::report);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->query("BEGIN"));
  ASSERT_TRUE(report->query("SELECT count(*) FROM attempt"));
  const auto begun = std::chrono::steady_clock::now();
  cluster.start_from(opened->state);
  const auto done = journal.commit(cluster.next(3));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, CommitOutcome::committed) << journal.doubt();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

}  // namespace
}  // namespace ares::store
