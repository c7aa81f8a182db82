#include "store/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/accounting_sql.h"
#include "store/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::PgServer;
using testing::RandomCluster;

constexpr Time at(int seconds) {
  return Time{std::chrono::seconds(1'800'000'000 + seconds)};
}
constexpr JobKey key(std::uint64_t job) {
  return {JobId(job), {}};
}
constexpr JobKey key(std::uint64_t job, std::uint32_t task) {
  return {JobId(job), {task}};
}

constexpr std::int64_t micros(Time time) {
  return time.time_since_epoch().count();
}
JobKey key_of(const api::JobRef& ref) {
  return {JobId(ref.job()), ref.has_task() ? TaskIndex{ref.task()} : TaskIndex{}};
}

class AccountingTest : public ::testing::Test {
 protected:
  AccountingTest() {
    auto opened = journal_.open();
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    cluster_.start_from(opened->state);
    for (int i = 1; i <= 3; ++i) {
      auto node = std::make_shared<Node>();
      node->id = NodeId(static_cast<std::uint32_t>(i));
      node->name = "n" + std::to_string(i);
      for (std::uint16_t gpu = 0; gpu < 2; ++gpu)
        node->inventory.gpus.push_back({GpuIndex(gpu), "a100", {}});
      nodes_.push_back(std::move(node));
    }
  }

  Attempt attempt(JobKey job, std::uint32_t number, const std::string& user, JobState state) {
    auto spec = std::make_shared<JobSpec>();
    spec->name = "job" + std::to_string(job.job.value());
    spec->user = user;
    spec->uid = UserId(user == "alice" ? 1001 : 1002);
    spec->partitions = {"main"};
    spec->tasks = 2;
    spec->memory_per_node = Bytes::mib(500);
    spec->comment = "a note";
    spec->features = {"big", "fast"};
    spec->std_out = "%j.out";
    spec->exclusive = true;
    Attempt a;
    a.key = {job, AttemptNo(number)};
    a.own_id = JobId(job.job.value() + (job.task.is_none() ? 0 : 1 + job.task.value));
    a.spec = spec;
    a.state = state;
    a.priority = 77;
    a.submitted = at(static_cast<int>(job.job.value()) * 100);
    if (number > 0) {
      a.allocation.partition = "main";
      a.allocation.at = a.submitted + std::chrono::seconds(1);
      a.allocation.nodes = {share(1), share(2)};
      a.started = a.submitted + std::chrono::seconds(2);
    }
    if (is_terminal(state)) a.ended = a.submitted + std::chrono::seconds(50);
    return a;
  }

  static NodeShare share(std::uint32_t node) {
    NodeShare s;
    s.node = NodeId(node);
    s.cpus = 2;
    s.memory = Bytes::mib(500);
    s.gpus = {GpuIndex(0)};
    s.usage = {Duration(1000), Duration(200), Bytes::mib(node)};
    return s;
  }

  void store(std::vector<Attempt> attempts) {
    Batch batch = cluster_.empty_batch(1);
    cluster_.finish(batch);
    batch.attempts = std::move(attempts);
    batch.nodes.assign(nodes_.begin(), nodes_.end());
    batch.tres = {{kTresCpu, "cpu"},      {kTresMem, "mem"},
                  {kTresNode, "node"},    {kTresBilling, "billing"},
                  {kTresGpu, "gres/gpu"}, {kFirstDynamicTres, "gres/gpu:a100"}};
    auto done = journal_.commit(batch);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(*done, CommitOutcome::committed) << journal_.doubt();
  }

  api::AccountingRows ask(const AccountingFilter& filter = {}) {
    auto page = accounting_.query(filter);
    EXPECT_TRUE(page) << (page ? "" : page.error().message);
    return page ? *page : api::AccountingRows{};
  }
  std::vector<JobKey> keys(const AccountingFilter& filter) {
    std::vector<JobKey> found;
    const auto answer = ask(filter);
    for (const auto& row : answer.rows()) found.push_back(key_of(row.key()));
    return found;
  }
  std::string plan(const AccountingFilter& filter) {
    const AccountingStatement statement = accounting_statement(filter);
    auto connection = PgConnection::connect(options_, PgConnection::Use::report);
    EXPECT_TRUE(connection);
    auto rows = connection->query(("EXPLAIN " + statement.sql).c_str(), statement.params);
    EXPECT_TRUE(rows) << (rows ? "" : rows.error().message);
    std::string text;
    for (int i = 0; rows && i < rows->size(); ++i) text += rows->text(i, 0) + "\n";
    return text;
  }
  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  Accounting accounting_{options_};
  RandomCluster cluster_{61};
  std::vector<std::shared_ptr<const Node>> nodes_;
};

TEST_F(AccountingTest, PartsOfGpusAreCountedInThousandths) {
  Attempt a = attempt(key(7), 1, "alice", JobState::completed);
  auto spec = *a.spec;
  spec.gpus_per_node = {{"a100", 0, 250}};
  a.spec = std::make_shared<const JobSpec>(spec);
  a.allocation.nodes.change_each([](NodeShare& share) {
    share.gpus = {GpuIndex(0)};
    share.gpu_part = 250;
  });
  store({a});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 1);
  EXPECT_EQ(page.rows(0).allocated_tres(),
            "billing=4,cpu=4,gres/gpu=0.5,gres/gpu:a100=0.5,mem=1000M,node=2");
  EXPECT_EQ(page.rows(0).requested_tres(),
            "billing=2,cpu=2,gres/gpu=0.25,gres/gpu:a100=0.25,mem=500M,node=1");
  EXPECT_EQ(sql("SELECT string_agg(tres_id || '=' || count, ' ' ORDER BY tres_id) "
                "FROM attempt_tres WHERE tres_id > 1000"),
            "1001=0.5 1002=0.5");
}

TEST_F(AccountingTest, ARowTellsWhatTheAttemptDid) {
  Attempt a = attempt(key(7), 1, "alice", JobState::failed);
  a.reason = Reason::non_zero_exit_code;
  a.exit = {3, 0, false, false};
  a.restarts = 0;
  a.allocation.time_limit = Seconds(3600);
  store({a});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 1);
  const api::AccountingRow& row = page.rows(0);
  EXPECT_EQ(key_of(row.key()), key(7));
  EXPECT_EQ(row.attempt(), 1u);
  EXPECT_EQ(row.state(), "FAILED");
  EXPECT_EQ(row.reason(), to_string(Reason::non_zero_exit_code));
  EXPECT_EQ(row.exit_code(), 3);
  EXPECT_EQ(row.node_list(), "n[1-2]");
  EXPECT_EQ(row.node_count(), 2u);
  EXPECT_EQ(row.cpus(), 4u);
  EXPECT_EQ(row.allocated_tres(), "billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=1000M,node=2");
  EXPECT_EQ(row.requested_tres(), "billing=2,cpu=2,mem=500M,node=1");
  EXPECT_EQ(row.user_cpu(), 2000);
  EXPECT_EQ(row.system_cpu(), 400);
  EXPECT_EQ(row.max_rss(), Bytes::mib(2).value());
  EXPECT_EQ(row.max_rss_node(), "n2");
  EXPECT_EQ(row.time_limit(), 3600);
  EXPECT_EQ(row.submitted(), micros(a.submitted));
  EXPECT_EQ(row.allocated_at(), micros(a.allocation.at));
  EXPECT_EQ(row.started(), micros(*a.started));
  EXPECT_EQ(row.ended(), micros(*a.ended));
  EXPECT_EQ(row.tasks(), 2u);
  EXPECT_EQ(row.priority(), 77u);
  EXPECT_EQ(row.comment(), "a note");
  EXPECT_EQ(row.constraints(), "big&fast");
  EXPECT_EQ(row.std_out(), "%j.out");
  EXPECT_TRUE(row.exclusive());
  EXPECT_FALSE(row.superseded());
  EXPECT_FALSE(row.has_cancelled_by());
  EXPECT_EQ(
      sql("SELECT string_agg(tres_id || '=' || count, ' ' ORDER BY tres_id) FROM attempt_tres"),
      "1=4 2=1000 4=2 5=4 1001=2 1002=2");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_tres WHERE ended - began <> '49 s'"), "0");
}

TEST_F(AccountingTest, OnlyTheFieldsAskedForComeBesideTheKey) {
  store({attempt(key(7, 3), 1, "alice", JobState::failed)});
  AccountingFilter f;
  f.fields = {api::AccountingRow::kStateFieldNumber};
  const auto page = ask(f);
  ASSERT_EQ(page.rows_size(), 1);
  EXPECT_EQ(key_of(page.rows(0).key()), key(7, 3));
  EXPECT_EQ(page.rows(0).attempt(), 1u);
  EXPECT_EQ(page.rows(0).state(), "FAILED");
  EXPECT_EQ(page.rows(0).name(), "");
  EXPECT_EQ(page.rows(0).submitted(), 0);
}

TEST_F(AccountingTest, EveryFieldOfARowHasItsColumn) {
  const auto* row = api::AccountingRow::descriptor();
  for (int i = 0; i < row->field_count(); ++i) {
    const auto number = static_cast<std::uint32_t>(row->field(i)->number());
    if (number == api::AccountingRow::kGroupFieldNumber) continue;  // a name service knows it
    const auto columns = accounting_columns({number});
    EXPECT_TRUE(std::any_of(columns.begin(), columns.end(), [&](const auto* c) {
      return std::uint32_t(c->field) == number;
    })) << row->field(i)->name();
  }
}

TEST_F(AccountingTest, ARowFollowsItsAttemptToTheEnd) {
  Attempt a = attempt(key(1), 1, "alice", JobState::running);
  store({a});
  EXPECT_EQ(ask().rows(0).state(), "RUNNING");
  EXPECT_EQ(ask().rows(0).ended(), 0);
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_live"), "1");
  a.state = JobState::completed;
  a.ended = at(500);
  store({a});
  store({a});  // told twice
  const auto rows = ask();
  ASSERT_EQ(rows.rows_size(), 1);
  EXPECT_EQ(rows.rows(0).state(), "COMPLETED");
  EXPECT_EQ(rows.rows(0).ended(), micros(at(500)));
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_live"), "0");
}

TEST_F(AccountingTest, WhatNeverRanShowsWhatItAskedFor) {
  Attempt a = attempt(key(5), 0, "alice", JobState::cancelled);
  a.cancelled_by = UserId(1003);
  Attempt limited = attempt(key(6), 0, "alice", JobState::cancelled);
  limited.time_limit = Seconds(60);
  Attempt unlimited = attempt(key(7), 0, "alice", JobState::cancelled);
  unlimited.time_limit = Seconds(0);
  store({a, limited, unlimited});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 3);
  EXPECT_EQ(page.rows(0).cancelled_by(), 1003u);
  EXPECT_EQ(page.rows(0).partition(), "main");
  EXPECT_TRUE(page.rows(0).has_time_limit()) << "its partition's, whatever that was";
  EXPECT_EQ(page.rows(0).time_limit(), 0);
  EXPECT_EQ(page.rows(1).time_limit(), 60);
  EXPECT_FALSE(page.rows(2).has_time_limit());
}

TEST_F(AccountingTest, AnArraysOwnRowStandsForTheTasksThatNeverRan) {
  Attempt rest = attempt(key(10), 0, "alice", JobState::cancelled);
  rest.tasks = *parse_interval_set("3-9");
  store({rest, attempt(key(10, 1), 1, "alice", JobState::completed)});
  EXPECT_THAT(keys({}), ElementsAre(key(10), key(10, 1)));
  EXPECT_EQ(ask().rows(0).array_tasks(), "3-9");
  AccountingFilter f;
  f.jobs = {key(10, 4), key(10, 1)};
  const auto some = ask(f);
  ASSERT_EQ(some.rows_size(), 2);
  EXPECT_EQ(some.rows(0).array_tasks(), "4") << "what was asked for";
  f.jobs = {key(10, 2)};
  EXPECT_THAT(keys(f), IsEmpty());
}

TEST_F(AccountingTest, FiltersSelect) {
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
  f.jobs = {key(15)};  // the own number of 10_4
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

// Job 1 waits until 101 s, runs until 150 s; job 2 waits until 201 s and runs on.
TEST_F(AccountingTest, AStateIsThatOfTheWindow) {
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

TEST_F(AccountingTest, TimeLimitsAreCompared) {
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

TEST_F(AccountingTest, TheLastAttemptStandsForAJobUnlessAllAreAsked) {
  Attempt first = attempt(key(1), 1, "alice", JobState::node_fail);
  first.superseded = true;
  store({first, attempt(key(1), 2, "alice", JobState::completed)});
  AccountingFilter f;
  const auto last = ask(f);
  ASSERT_EQ(last.rows_size(), 1);
  EXPECT_EQ(last.rows(0).attempt(), 2u);
  f.all_attempts = true;
  EXPECT_EQ(ask(f).rows_size(), 2);
}

TEST_F(AccountingTest, AnAttemptAskedToRunAgainWasRequeued) {
  Attempt again = attempt(key(1), 1, "alice", JobState::cancelled);
  again.reason = Reason::requeued;
  again.cancelled_by = UserId(0);
  store({again});
  EXPECT_EQ(ask().rows(0).state(), "REQUEUED");
  again.superseded = true;  // known as such later
  store({again});
  EXPECT_EQ(ask().rows_size(), 0);
  AccountingFilter f;
  f.all_attempts = true;
  f.states = {"REQUEUED"};
  EXPECT_EQ(ask(f).rows_size(), 1);
}

TEST_F(AccountingTest, CancelledWhileItWaitedAndRunAfterAllAreTwoRows) {
  Attempt waited = attempt(key(1), 2, "alice", JobState::cancelled);
  waited.allocation = {};
  waited.started.reset();
  waited.superseded = true;
  store({waited});
  Attempt ran = attempt(key(1), 2, "alice", JobState::running);
  store({ran});
  EXPECT_EQ(ask().rows(0).state(), "RUNNING");
  ran.state = JobState::completed;
  ran.ended = at(600);
  store({ran});
  AccountingFilter f;
  f.all_attempts = true;
  const auto all = ask(f);
  ASSERT_EQ(all.rows_size(), 2);
  EXPECT_EQ(ask().rows_size(), 1);
}

TEST_F(AccountingTest, PagesCoverEverythingOnce) {
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

// As the planner sees a year of a busy cluster.
TEST_F(AccountingTest, QuestionsGoThroughIndexesOfTheMonthsTheyAreAbout) {
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

TEST_F(AccountingTest, WhateverIsInANameIsDataOnly) {
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

TEST_F(AccountingTest, ARestartOfTheServerIsNotNoticed) {
  store({attempt(key(1), 1, "alice", JobState::completed)});
  EXPECT_THAT(keys({}), ElementsAre(key(1)));
  server_.stop_immediately();
  EXPECT_EQ(accounting_.query({}).error().code, ErrorCode::unavailable);
  server_.start();
  EXPECT_THAT(keys({}), ElementsAre(key(1)));
}

TEST_F(AccountingTest, ItsConnectionsCannotWrite) {
  auto connection = PgConnection::connect(options_, PgConnection::Use::report);
  ASSERT_TRUE(connection);
  EXPECT_FALSE(connection->query("DELETE FROM attempt"));
}

}  // namespace
}  // namespace ares::store
