// A database with rows of attempts that tests insert, and queries of them. For tests of accounting only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "store/accounting/accounting.h"
#include "store/accounting/accounting_sql.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/random_cluster.h"

namespace ares::store {

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
inline JobKey key_of(const api::JobRef& ref) {
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

  testing::PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  Accounting accounting_{options_};
  testing::RandomCluster cluster_{61};
  std::vector<std::shared_ptr<const Node>> nodes_;
};

}  // namespace ares::store
