#include "store/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
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
    Attempt a;
    a.key = {job, AttemptNo(number)};
    a.own_id = JobId(job.job.value() + (job.task.is_none() ? 0 : 1 + job.task.value));
    a.spec = spec;
    a.state = state;
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

  std::vector<JobKey> keys(const AccountingFilter& filter) {
    auto page = accounting_.query(filter);
    EXPECT_TRUE(page) << (page ? "" : page.error().message);
    std::vector<JobKey> found;
    if (page)
      for (const auto& row : page->rows) found.push_back(row.key);
    return found;
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  Accounting accounting_{options_};
  RandomCluster cluster_{61};
  std::vector<std::shared_ptr<const Node>> nodes_;
};

TEST_F(AccountingTest, ARowTellsWhatTheAttemptDid) {
  Attempt a = attempt(key(7), 1, "alice", JobState::failed);
  a.reason = Reason::non_zero_exit_code;
  a.exit = {3, 0, false, false};
  a.restarts = 0;
  a.allocation.time_limit = Seconds(3600);
  store({a});
  auto page = accounting_.query({});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->rows.size(), 1u);
  const AccountingRow& row = page->rows[0];
  EXPECT_EQ(row.key, key(7));
  EXPECT_EQ(row.attempt, AttemptNo(1));
  EXPECT_EQ(row.state, "FAILED");
  EXPECT_EQ(row.reason, to_string(Reason::non_zero_exit_code));
  EXPECT_EQ(row.exit_code, 3);
  EXPECT_EQ(row.node_list, "n[1-2]");
  EXPECT_EQ(row.node_count, 2u);
  EXPECT_EQ(row.cpus, 4u);
  EXPECT_EQ(row.allocated_tres, "billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=1000M,node=2");
  EXPECT_EQ(row.requested_tres, "billing=2,cpu=2,mem=500M,node=1");
  EXPECT_EQ(row.user_cpu, Duration(2000));
  EXPECT_EQ(row.system_cpu, Duration(400));
  EXPECT_EQ(row.max_rss, Bytes::mib(2));
  EXPECT_EQ(row.time_limit, Seconds(3600));
  EXPECT_EQ(row.submitted, a.submitted);
  EXPECT_EQ(row.allocated, a.allocation.at);
  EXPECT_EQ(row.started, a.started);
  EXPECT_EQ(row.ended, a.ended);
  EXPECT_EQ(
      server_.sql(
          options_,
          "SELECT string_agg(tres_id || '=' || count, ' ' ORDER BY tres_id) FROM attempt_tres"),
      "1=4 2=1000 4=2 5=4 1001=2 1002=2");
  EXPECT_EQ(
      server_.sql(options_, "SELECT count(*) FROM attempt_tres WHERE ended - began <> '49 s'"),
      "0");
}

TEST_F(AccountingTest, ARowFollowsItsAttemptToTheEnd) {
  Attempt a = attempt(key(1), 1, "alice", JobState::running);
  store({a});
  EXPECT_EQ(accounting_.query({})->rows[0].state, "RUNNING");
  EXPECT_FALSE(accounting_.query({})->rows[0].ended);
  a.state = JobState::completed;
  a.ended = at(500);
  store({a});
  const auto rows = accounting_.query({})->rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].state, "COMPLETED");
  EXPECT_EQ(rows[0].ended, at(500));
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
  f.users = {"1002"};
  EXPECT_THAT(keys(f), ElementsAre(key(2), key(10, 0), key(10, 4), key(20)));
  f = {};
  f.states = {JobState::failed, JobState::cancelled};
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
}

TEST_F(AccountingTest, TheLastAttemptStandsForAJobUnlessAllAreAsked) {
  store({attempt(key(1), 1, "alice", JobState::node_fail),
         attempt(key(1), 2, "alice", JobState::completed)});
  AccountingFilter f;
  const auto last = accounting_.query(f)->rows;
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].attempt, AttemptNo(2));
  f.all_attempts = true;
  EXPECT_EQ(accounting_.query(f)->rows.size(), 2u);
}

TEST_F(AccountingTest, PagesCoverEverythingOnce) {
  std::vector<Attempt> attempts;
  for (std::uint64_t job = 1; job <= 23; ++job)
    for (std::uint32_t number = 1; number <= 1 + job % 3; ++number)
      attempts.push_back(attempt(key(job), number, "alice", JobState::completed));
  store(attempts);
  AccountingFilter f;
  f.all_attempts = true;
  f.limit = 4;
  std::vector<AttemptKey> seen;
  for (int pages = 0; pages < 30; ++pages) {
    auto page = accounting_.query(f);
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& row : page->rows) seen.push_back({row.key, row.attempt});
    if (!page->more || page->rows.empty()) break;
    f.after = page->rows.back().key;
  }
  std::vector<AttemptKey> expected;
  for (const auto& a : attempts) expected.push_back(a.key);
  EXPECT_EQ(seen, expected);
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
  const auto rows = accounting_.query(f)->rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, nasty);
  EXPECT_EQ(rows[0].account,
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
