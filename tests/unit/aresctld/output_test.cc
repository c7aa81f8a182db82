// Tests: output_store, read_output
// What nodes send of the output of jobs: which of it is stored, who may read it, and who waits for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "aresctld/output/output_store.h"
#include "aresctld/output/read_output.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"

namespace ares::aresctld {
namespace {

using testing::HasSubstr;

constexpr Time kNow{Duration(1'900'000'000'000'000)};
const UserId kOwner(1001), kOther(1002), kOperator(1003);

// Job 7 is in its second attempt, on n1 and n2; job 8 waits; job 9 runs for an hour and has told nothing.
class OutputTest : public testing::Test {
 protected:
  OutputTest() {
    store::PgJournal journal{options};
    EXPECT_TRUE(journal.open());
    auto state = std::make_shared<ClusterState>();
    for (std::uint32_t i = 1; i <= 2; ++i) {
      Node node;
      node.id = NodeId(i);
      node.name = "n" + std::to_string(i);
      state->nodes.set(node.id, node);
      state->node_ids.set(node.name, node.id);
    }
    const auto put = [&](std::uint64_t id, JobState now, Seconds since) {
      auto spec = std::make_shared<JobSpec>();
      spec->uid = kOwner;
      spec->user = "alice";
      Job job;
      job.key = {JobId(id), {}};
      job.own_id = JobId(id);
      job.spec = spec;
      job.state = now;
      job.submitted = kNow - Seconds(7200);
      if (now == JobState::running) {
        job.started = kNow - since;
        job.attempt = AttemptNo(2);
        Allocation allocation;
        allocation.fence = Fence(50);
        NodeShare first, second;
        first.node = NodeId(2);
        second.node = NodeId(1);
        allocation.nodes = {first, second};
        job.allocation = allocation;
      }
      state->jobs.set(job.key, std::make_shared<const Job>(job));
    };
    put(7, JobState::running, Seconds(60));
    put(8, JobState::pending, Seconds(0));
    put(9, JobState::running, Seconds(3600));
    state->lsn = Lsn(1);
    views.publish_state(state);
    policy.operators = {kOperator};
    config->retention.job_output_limit = Bytes::mib(1);
    output.start();
  }
  ~OutputTest() override { output.stop(); }

  api::OutputPart part(std::uint64_t offset, const std::string& data, std::uint64_t fence = 50) {
    api::OutputPart made;
    made.mutable_attempt()->mutable_job()->set_job(7);
    made.mutable_attempt()->set_attempt(2);
    made.set_fence(fence);
    made.set_offset(offset);
    made.set_data(data);
    return made;
  }
  // The answer to a part of that node.
  api::OutputStored send(const std::string& node, api::OutputPart made) {
    std::promise<api::OutputStored> answer;
    auto told = answer.get_future();
    output.add(node, std::move(made), [&](const api::OutputStored& got) { answer.set_value(got); });
    return told.get();
  }
  Result<api::Output> read(std::uint64_t job, UserId as = kOwner, std::uint32_t rank = 0,
                           std::uint64_t offset = 0) {
    api::ReadOutput request;
    request.mutable_job()->set_job(job);
    request.set_rank(rank);
    request.set_offset(offset);
    const auto key = job_of_output(views.read(), policy, request, kNow);
    if (!key) return fail(key.error());
    Principal caller;
    caller.uid = as;
    caller.user = "u" + std::to_string(as.value());
    return read_output(views.read(), policy, caller, *key, request, reader, kNow);
  }

  store::testing::PgServer server;
  store::PgOptions options = server.new_database();
  std::shared_ptr<config::Config> config = std::make_shared<config::Config>();
  ConfigHolder holder{config};
  Policy policy;
  ViewHolder views;
  OutputStore output{options, views, holder};
  store::OutputReader reader{options, 1};
};

TEST_F(OutputTest, IsStoredByRankAndReadByWhoMay) {
  EXPECT_EQ(send("n2", part(0, "first\n")).size(), 6U);
  EXPECT_EQ(send("n1", part(0, "second rank\n")).size(), 12U);
  const auto first = read(7);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->data(), "first\n");
  EXPECT_EQ(first->attempt(), 2U);
  EXPECT_FALSE(first->ended());
  EXPECT_EQ(read(7, kOperator, 1)->data(), "second rank\n");
  EXPECT_EQ(read(7, kOwner, 0, 6)->data(), "");
  const auto refused = read(7, kOther);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::permission_denied);
  EXPECT_FALSE(read(7, kOwner, 2));
}

TEST_F(OutputTest, TheEndIsStoredToo) {
  api::OutputPart last = part(0, "all");
  last.set_ended(true);
  EXPECT_TRUE(send("n2", last).ended());
  EXPECT_TRUE(read(7)->ended());
}

TEST_F(OutputTest, WhatIsOfNoAttemptOfTheNodeIsForgotten) {
  EXPECT_EQ(send("n2", part(3, "earlier fence", 49)).size(), 16U);
  EXPECT_EQ(send("n3", part(0, "abc")).size(), 3U);
  api::OutputPart other = part(0, "x");
  other.mutable_attempt()->set_attempt(1);
  EXPECT_EQ(send("n2", other).size(), 1U);
  constexpr std::uint64_t kBeyond = std::uint64_t{1} << 62;
  EXPECT_EQ(send("n2", part(kBeyond, "x")).size(), kBeyond + 1);
  EXPECT_EQ(server.sql(options, "SELECT count(*)::text FROM job_output"), "0");
}

TEST_F(OutputTest, WithoutAPartItDependsOnTheJob) {
  const auto waits = read(8);
  ASSERT_TRUE(waits) << waits.error().message;
  EXPECT_FALSE(waits->ended());
  const auto stranger = read(8, kOther);
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, ErrorCode::permission_denied);
  const auto in_files = read(9);
  ASSERT_FALSE(in_files);
  EXPECT_THAT(in_files.error().message, HasSubstr("its output is in its files"));
  const auto unknown = read(10);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("there is no job 10"));
}

TEST_F(OutputTest, WhoWaitsIsCalledForTheJobOnceAndAtTheDeadline) {
  std::promise<void> more, late;
  int others = 0;
  const auto of_another =
      output.await({JobId(8), {}}, std::chrono::seconds(600), [&] { ++others; });
  output.await({JobId(7), {}}, std::chrono::seconds(600), [&] { more.set_value(); });
  send("n2", part(0, "x"));
  more.get_future().wait();
  output.await({JobId(7), {}}, std::chrono::seconds(0), [&] { late.set_value(); });
  late.get_future().wait();
  EXPECT_TRUE(output.cancel(of_another));
  EXPECT_FALSE(output.cancel(of_another));
  EXPECT_EQ(others, 0);
}

TEST_F(OutputTest, TheEndOfTheStoreCallsAllThatWait) {
  bool called = false;
  output.await({JobId(7), {}}, std::chrono::seconds(600), [&] { called = true; });
  output.stop();
  EXPECT_TRUE(called);
}

TEST_F(OutputTest, TheConfigurationTurnsItOff) {
  EXPECT_TRUE(output.is_on());
  auto off = std::make_shared<config::Config>();
  off->retention.job_output_limit = Bytes(0);
  holder.publish(off);
  EXPECT_FALSE(output.is_on());
}

}  // namespace
}  // namespace ares::aresctld
