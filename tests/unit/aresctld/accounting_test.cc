// Accounting rows of pending jobs, merged with rows of the database.
#include "aresctld/accounting/accounting.h"
#include "core/state/indexes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aresctld/accounting/waiting_rows.h"

namespace ares::aresctld {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time kNow{std::chrono::seconds(1'800'000'000)};

class WaitingRows : public ::testing::Test {
 protected:
  WaitingRows() {
    Partition main;
    main.name = "main";
    main.default_time = Seconds(3600);
    state_.partitions.set("main", main);
  }

  Job& put(std::uint64_t id, const std::string& user = "alice",
           std::uint32_t task = TaskIndex::kNone) {
    auto spec = std::make_shared<JobSpec>();
    spec->name = "sim";
    spec->user = user;
    spec->uid = UserId(user == "alice" ? 1001 : 1002);
    spec->partitions = {"main", "gpu"};
    spec->tasks = 4;
    job_ = Job{};
    job_.key = {JobId(id), TaskIndex{task}};
    job_.own_id = JobId(id);
    job_.spec = spec;
    job_.submitted = kNow;
    return job_;
  }
  void put_array(std::uint64_t id, const std::string& tasks, const std::string& waiting) {
    put(id);
    auto spec = std::make_shared<JobSpec>(*job_.spec);
    spec->array = *parse_interval_set(tasks);
    job_.spec = spec;
    job_.array = ArrayState{};
    job_.array->waiting = *parse_interval_set(waiting);
    job_.array->throttle = 2;
    keep();
  }
  void keep() { state_.jobs.set(job_.key, job_); }

  api::AccountingRows rows(const store::AccountingFilter& filter = {}, std::uint32_t limit = 100) {
    rebuild_indexes(state_);
    View view{std::make_shared<const ClusterState>(state_), std::make_shared<const PendingInfos>()};
    return waiting_rows(view, policy_, filter, limit, kNow);
  }
  static std::vector<std::string> ids(const api::AccountingRows& rows) {
    std::vector<std::string> out;
    for (const auto& row : rows.rows())
      out.push_back(std::to_string(row.key().job()) +
                    (row.key().has_task() ? "_" + std::to_string(row.key().task()) : "") +
                    (row.array_tasks().empty() ? "" : "_[" + row.array_tasks() + "]"));
    return out;
  }

  ClusterState state_;
  Policy policy_;
  Job job_;
};

TEST_F(WaitingRows, HaveTheFieldsKnownBeforeAStart) {
  put(7).restarts = 2;
  job_.attempt = AttemptNo(2);
  keep();
  const auto found = rows();
  ASSERT_EQ(found.rows_size(), 1);
  const auto& row = found.rows(0);
  EXPECT_EQ(row.state(), "PENDING");
  EXPECT_EQ(row.attempt(), 3u) << "the one it waits for";
  EXPECT_EQ(row.partition(), "main,gpu");
  EXPECT_EQ(row.requested_tres(), "billing=4,cpu=4,node=1");
  EXPECT_EQ(row.time_limit(), 3600) << "its partition's";
  EXPECT_EQ(row.cpus(), 0u);
  EXPECT_EQ(row.restarts(), 2u);
}

TEST_F(WaitingRows, PendingTasksOfAnArrayAreOneRowBeforeTheOthers) {
  put_array(12, "0-9", "3-9");
  put(12, "alice", 1);
  keep();
  put(12, "alice", 2);
  job_.state = JobState::running;
  keep();
  put_array(30, "0-3", "0-3");
  state_.jobs.erase({JobId(30), {}});
  put(13, "bob");
  keep();
  EXPECT_THAT(ids(rows()), ElementsAre("12_[3-9%2]", "12_1", "13"));
}

TEST_F(WaitingRows, FiltersAndPagesSelectRows) {
  for (std::uint64_t id = 1; id <= 9; ++id) {
    put(id, id % 3 == 0 ? "bob" : "alice");
    keep();
  }
  store::AccountingFilter f;
  f.users = {"bob"};
  EXPECT_THAT(ids(rows(f)), ElementsAre("3", "6", "9"));
  f = {};
  f.uids = {1002};
  const auto page = rows(f, 2);
  EXPECT_THAT(ids(page), ElementsAre("3", "6"));
  ASSERT_TRUE(page.more());
  f.after = JobKey{JobId(page.last().job()), {}};
  EXPECT_THAT(ids(rows(f, 2)), ElementsAre("9"));
  EXPECT_FALSE(rows(f, 2).more());
  EXPECT_FALSE(rows(f, 1).more()) << "nothing is left";
  f = {};
  f.states = {"RUNNING", "COMPLETED"};
  EXPECT_THAT(ids(rows(f)), IsEmpty());
  f.states = {"PENDING"};
  f.end = kNow - Seconds(1);
  EXPECT_THAT(ids(rows(f)), IsEmpty()) << "they were not submitted then";
  f = {};
  f.time_limit = {.most = 3599};
  EXPECT_THAT(ids(rows(f)), IsEmpty());
}

TEST_F(WaitingRows, AreFoundByEveryFormOfTheirIds) {
  put_array(12, "0-18:2", "4-18:2");
  put(12, "alice", 2);
  keep();
  put(40);
  keep();
  store::AccountingFilter f;
  f.jobs = {{JobId(40), {}}};
  EXPECT_THAT(ids(rows(f)), ElementsAre("40"));
  f.jobs = {{JobId(12), {}}};
  EXPECT_THAT(ids(rows(f)), ElementsAre("12_[4-18:2%2]", "12_2"));
  f.jobs = {{JobId(12), {6}}, {JobId(12), {5}}, {JobId(12), {2}}};
  EXPECT_THAT(ids(rows(f)), ElementsAre("12_[6%2]", "12_2"));
  f.jobs = {{JobId(16), {}}};  // the job id of task 12_6
  EXPECT_THAT(ids(rows(f)), ElementsAre("12_[6%2]"));
  f.jobs = {{JobId(23), {}}, {JobId(11), {}}};
  EXPECT_THAT(ids(rows(f)), IsEmpty());
}

api::AccountingRow row(std::uint64_t job, std::optional<std::uint32_t> task,
                       const std::string& state, const std::string& tasks = "",
                       bool superseded = false) {
  api::AccountingRow out;
  out.mutable_key()->set_job(job);
  if (task) out.mutable_key()->set_task(*task);
  out.set_state(state);
  out.set_array_tasks(tasks);
  out.set_superseded(superseded);
  return out;
}

api::AccountingRows page(const std::vector<api::AccountingRow>& rows, bool more = false) {
  api::AccountingRows out;
  for (const auto& r : rows) *out.add_rows() = r;
  out.set_more(more);
  if (more) *out.mutable_last() = rows.back().key();
  return out;
}

std::string text(const api::AccountingRows& rows) {
  std::string out;
  for (const auto& r : rows.rows())
    out += std::to_string(r.key().job()) +
           (r.key().has_task() ? "_" + std::to_string(r.key().task()) : "") +
           (r.array_tasks().empty() ? "" : "[" + r.array_tasks() + "]") + r.state()[0] + " ";
  return out + (rows.more() ? "more behind " + std::to_string(rows.last().job()) : "");
}

TEST(Merge, KeepsTheOrderOfBoth) {
  EXPECT_EQ(text(merge(page({row(2, {}, "PENDING"), row(5, {}, "PENDING")}),
                       page({row(1, {}, "RUNNING"), row(3, 1, "FAILED"), row(6, {}, "FAILED")}))),
            "1R 2P 3_1F 5P 6F ");
}

TEST(Merge, RowsOfTheDatabaseReplaceStalePendingOnes) {
  EXPECT_EQ(text(merge(page({row(2, {}, "PENDING"), row(3, {}, "PENDING", "1-4%2")}),
                       page({row(2, {}, "RUNNING"), row(3, 2, "RUNNING")}))),
            "2R 3[1,3-4%2]P 3_2R ");
  EXPECT_EQ(text(merge(page({row(3, {}, "PENDING", "2")}), page({row(3, 2, "RUNNING")}))), "3_2R ");
}

TEST(Merge, EarlierAttemptDoesNotHideARequeuedJob) {
  EXPECT_EQ(text(merge(page({row(2, {}, "PENDING")}), page({row(2, {}, "FAILED", "", true)}))),
            "2F 2P ");
}

TEST(Merge, PageEndsWhereTheFirstOfBothEnds) {
  EXPECT_EQ(text(merge(page({row(2, {}, "PENDING"), row(9, {}, "PENDING")}),
                       page({row(1, {}, "RUNNING"), row(3, {}, "FAILED")}, true))),
            "1R 2P 3F more behind 3");
  EXPECT_EQ(text(merge(page({row(2, {}, "PENDING")}, true),
                       page({row(1, {}, "RUNNING"), row(3, {}, "FAILED")}, true))),
            "1R 2P more behind 2");
}

}  // namespace
}  // namespace ares::aresctld
