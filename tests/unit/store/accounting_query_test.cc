// Tests: accounting_columns
// Queries of accounting: filters, windows, pages, and the indexes that they use.
#include <gmock/gmock.h>

#include "unit/store/accounting_fixture.h"

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(AccountingTest, FiltersSelectRows) {
  store({attempt(key(1), 1, "alice", JobState::completed),
         attempt(key(2), 1, "bob", JobState::failed),
         attempt(key(3), 1, "alice", JobState::running),
         attempt(key(10, 0), 1, "bob", JobState::completed),
         attempt(key(10, 4), 1, "bob", JobState::completed),
         attempt(key(20), 0, "bob", JobState::cancelled)});
  AccountingFilter f;
  f.users = {"alice"};
  EXPECT_THAT(keys(f), ElementsAre(key(1), key(3)));
  f = {};
  f.uids = {1002};
  EXPECT_THAT(keys(f), ElementsAre(key(2), key(10, 0), key(10, 4), key(20)));
  f.users = {"alice"};
  EXPECT_EQ(keys(f).size(), 6u) << "any of both";
  f = {};
  f.states = {"FAILED", "CANCELLED"};
  EXPECT_THAT(keys(f), ElementsAre(key(2), key(20)));
  f = {};
  f.jobs = {key(10)};
  EXPECT_THAT(keys(f), ElementsAre(key(10, 0), key(10, 4)));
  f.jobs = {key(10, 4), key(2)};
  EXPECT_THAT(keys(f), ElementsAre(key(2), key(10, 4)));
  f.jobs = {key(15)};  // the job id of task 10_4
  EXPECT_THAT(keys(f), ElementsAre(key(10, 4)));
  f = {};
  f.start = at(200);  // job 1 ended at 150
  f.end = at(300);
  EXPECT_THAT(keys(f), ElementsAre(key(2), key(3)));
  f = {};
  f.names = {"job1", "job20"};
  EXPECT_THAT(keys(f), ElementsAre(key(1), key(20)));
  f.partitions = {"other"};
  EXPECT_THAT(keys(f), IsEmpty());
  f = {};
  f.nodes = {"n2", "n9"};
  EXPECT_EQ(keys(f).size(), 5u) << "all that ran";
  f.nodes = {"n3"};
  EXPECT_THAT(keys(f), IsEmpty());
  f = {};
  f.cpus = {.least = 4};
  EXPECT_EQ(keys(f).size(), 5u);
  f.cpus = {.least = 5, .most = 9};
  EXPECT_THAT(keys(f), IsEmpty());
  f = {};
  f.node_count = {.most = 1};
  EXPECT_THAT(keys(f), ElementsAre(key(20)));
}

// Job 1 is pending until 101 s and runs until 150 s; job 2 is pending until 201 s and still runs.
TEST_F(AccountingTest, StateFilterAppliesToTheWindow) {
  store({attempt(key(1), 1, "alice", JobState::completed),
         attempt(key(2), 1, "alice", JobState::running)});
  const auto in = [&](std::vector<std::string> states, std::optional<Time> start,
                      std::optional<Time> end) {
    AccountingFilter f;
    f.states = std::move(states);
    f.start = start;
    f.end = end;
    return keys(f);
  };
  EXPECT_THAT(in({"RUNNING"}, at(120), at(120)), ElementsAre(key(1))) << "ran then";
  EXPECT_THAT(in({"RUNNING"}, at(120), at(300)), ElementsAre(key(1), key(2)));
  EXPECT_THAT(in({"RUNNING"}, at(160), at(300)), ElementsAre(key(2)));
  EXPECT_THAT(in({"PENDING"}, at(100), at(100)), ElementsAre(key(1)));
  EXPECT_THAT(in({"PENDING"}, at(110), at(200)), ElementsAre(key(2)));
  EXPECT_THAT(in({"PENDING"}, at(210), {}), IsEmpty());
  EXPECT_THAT(in({"COMPLETED"}, at(100), at(149)), IsEmpty()) << "ended later";
  EXPECT_THAT(in({"COMPLETED"}, at(100), at(150)), ElementsAre(key(1)));
  EXPECT_THAT(in({"COMPLETED"}, at(151), {}), IsEmpty()) << "ended before";
  EXPECT_THAT(in({"COMPLETED", "RUNNING"}, {}, {}), ElementsAre(key(1), key(2)));
  EXPECT_THAT(in({"COMPLETING"}, {}, {}), IsEmpty());
  EXPECT_THAT(in({}, at(0), at(99)), IsEmpty()) << "not known yet";
}

TEST_F(AccountingTest, TimeLimitFilterComparesRanges) {
  Attempt hour = attempt(key(1), 1, "alice", JobState::completed);
  hour.allocation.time_limit = Seconds(3600);
  store({hour, attempt(key(2), 1, "alice", JobState::completed)});
  AccountingFilter f;
  f.time_limit = {.least = 3600};
  EXPECT_THAT(keys(f), ElementsAre(key(1), key(2))) << "unlimited is more";
  f.time_limit = {.least = 3600, .most = 3600};
  EXPECT_THAT(keys(f), ElementsAre(key(1)));
  f.time_limit = {.most = 3599};
  EXPECT_THAT(keys(f), IsEmpty());
}

TEST_F(AccountingTest, PagesContainEachRowOnce) {
  std::vector<Attempt> attempts;
  for (std::uint64_t job = 1; job <= 23; ++job)
    for (std::uint32_t number = 1; number <= 1 + job % 3; ++number) {
      attempts.push_back(attempt(key(job), number, "alice", JobState::completed));
      attempts.back().superseded = number <= job % 3;
    }
  attempts.back().state = JobState::running;
  store(attempts);
  for (const bool all : {false, true}) {
    AccountingFilter f;
    f.all_attempts = all;
    f.limit = 4;
    std::vector<AttemptKey> seen;
    for (int pages = 0; pages < 30; ++pages) {
      const auto page = ask(f);
      for (const auto& row : page.rows())
        seen.push_back({key_of(row.key()), AttemptNo(row.attempt())});
      if (!page.more()) break;
      f.after = key_of(page.last());
    }
    std::vector<AttemptKey> expected;
    for (const auto& a : attempts)
      if (all || !a.superseded) expected.push_back(a.key);
    EXPECT_EQ(seen, expected);
  }
}

// Plans of PostgreSQL for a table with a year of a busy cluster.
TEST_F(AccountingTest, QueriesUseIndexesOfTheMonthsConcerned) {
  sql("SELECT attempt_prepare('2026-01-01Z', 11)");
  sql("INSERT INTO attempt_done (job_id, task, own_id, uid, gid, submitted, allocated, started, "
      "ended, user_cpu, system_cpu, max_rss, cpus, restarts, cluster_id, attempt, exit_code, "
      "exit_signal, node_count, superseded, name, user_name, account, qos, partition, state, "
      "reason, node_list, requested_tres, allocated_tres, work_dir, submit_host, submit_zone) "
      "SELECT i, -1, i, 1000 + i % 50, 100, t, t, t, t + '1 min', 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, "
      "false, 'n', 'u', 'a', 'q', 'p', 'COMPLETED', 'None', 'n1', '', '', '/', 'h', 'UTC' "
      "FROM (SELECT i, '2026-01-01Z'::timestamptz + i * '15 min'::interval AS t "
      "FROM generate_series(1, 34000) AS i) AS jobs");
  sql("ANALYZE attempt_done");
  const auto at_day = [](unsigned month, unsigned day) {
    return Time{std::chrono::sys_days(std::chrono::year(2026) / std::chrono::month(month) /
                                      std::chrono::day(day))};
  };

  AccountingFilter f;
  f.jobs = {key(20000)};
  f.fields = {api::AccountingRow::kStateFieldNumber};
  EXPECT_THAT(plan(f), Not(HasSubstr("Seq Scan on attempt_done_2026"))) << plan(f);

  f = {};
  f.start = at_day(11, 20);
  f.fields = {api::AccountingRow::kStateFieldNumber};
  EXPECT_THAT(plan(f), Not(HasSubstr("attempt_done_202610"))) << plan(f);
  EXPECT_THAT(plan(f), HasSubstr("attempt_done_202611"));
  f.end = at_day(11, 21);
  f.start = at_day(11, 20);
  f.states = {"FAILED"};
  EXPECT_THAT(plan(f), HasSubstr("attempt_done_202611_ended_idx")) << plan(f);
  EXPECT_THAT(plan(f), Not(HasSubstr("attempt_done_202612")));
  EXPECT_THAT(plan(f), Not(HasSubstr("attempt_live")));

  f = {};
  f.uids = {1007};
  f.start = at_day(6, 1);
  f.fields = {api::AccountingRow::kStateFieldNumber};
  EXPECT_THAT(plan(f), HasSubstr("attempt_done_202606_uid_ended_idx")) << plan(f);
  EXPECT_THAT(plan(f), Not(HasSubstr("Seq Scan on attempt_done_20260")));
}

TEST_F(AccountingTest, NamesAreNeverInterpretedAsSql) {
  const std::string nasty = "x'; DROP TABLE attempt; --\"\\ \n\x01 $1 {1,2} NULL";
  Attempt a = attempt(key(1), 1, "alice", JobState::completed);
  auto spec = std::make_shared<JobSpec>(*a.spec);
  spec->name = nasty;
  spec->user = nasty;
  spec->account = std::string("nul\0and\xff", 8);
  spec->work_dir = std::string(100'000, 'w');
  a.spec = spec;
  store({a});
  AccountingFilter f;
  f.names = {nasty};
  f.users = {nasty};
  const auto page = ask(f);
  ASSERT_EQ(page.rows_size(), 1);
  EXPECT_EQ(page.rows(0).name(), nasty);
  EXPECT_EQ(page.rows(0).account(),
            "nul\xef\xbf\xbd"
            "and\xef\xbf\xbd");
  f.names = {"' OR true --"};
  EXPECT_THAT(keys(f), IsEmpty());
}

TEST_F(AccountingTest, QueriesReconnectAfterARestartOfTheServer) {
  store({attempt(key(1), 1, "alice", JobState::completed)});
  EXPECT_THAT(keys({}), ElementsAre(key(1)));
  server_.stop_immediately();
  EXPECT_EQ(accounting_.query({}).error().code, ErrorCode::unavailable);
  server_.start();
  EXPECT_THAT(keys({}), ElementsAre(key(1)));
}

TEST_F(AccountingTest, ConnectionsCannotWrite) {
  auto connection = PgConnection::connect(options_, PgConnection::Use::report);
  ASSERT_TRUE(connection);
  EXPECT_FALSE(connection->query("DELETE FROM attempt"));
}

}  // namespace
}  // namespace ares::store
