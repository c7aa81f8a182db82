#include "aresctld/engine/engine_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <set>

#include "aresctld/engine/recurrence.h"
#include "aresctld/engine/view.h"
#include "store/journal/faulty_journal.h"
#include "store/journal/mem_journal.h"

namespace ares::aresctld {
namespace {

using store::FaultyJournal;
using Fault = FaultyJournal::Fault;
using Operation = FaultyJournal::Operation;
using namespace std::chrono_literals;

Command submit(std::uint64_t number) {
  JobSpec spec;
  spec.name = "job" + std::to_string(number);
  spec.uid = UserId(1000);
  spec.user = "alice";
  spec.hold = true;
  Submit body;
  body.spec = std::make_shared<const JobSpec>(std::move(spec));
  UserCommand command;
  command.who = {UserId(1000), GroupId(1000), "alice", "here"};
  command.request_id = "request-" + std::to_string(number);
  command.body = std::move(body);
  return Command{std::move(command)};
}

Command one_partition() {
  ApplyConfig config;
  config.hash = 1;
  Partition partition;
  partition.name = "main";
  partition.nodes = {"n1"};
  partition.is_default = true;
  config.partitions = {partition};
  Inventory inventory;
  inventory.cpus = 4;
  inventory.memory = Bytes::gib(4);
  config.nodes = {{"n1", inventory}};
  return Command{std::move(config)};
}

Command registration(JournalPosition heard = {}) {
  Register body;
  body.name = "n1";
  body.incarnation_tag = "spool/boot";
  body.incarnation = 1;
  body.inventory.cpus = 4;
  body.inventory.memory = Bytes::gib(4);
  body.position = std::move(heard);
  return Command{NodeCommand{{"n1", 1, std::move(body)}, "10.0.0.1", {}}};
}

// A loop with a database in memory, whose connection fails as `script` says.
class EngineLoopTest : public ::testing::Test {
 protected:
  void start(FaultyJournal::Script script) {
    start_passive(std::move(script));
    activate();
  }

  void start_passive(FaultyJournal::Script script) {
    journal_ = std::make_unique<FaultyJournal>(std::make_unique<store::MemJournal>(database_),
                                               std::move(script));
    auto opened = journal_->open();
    ASSERT_TRUE(opened) << opened.error().message;
    opened->state.epoch = opened->epoch;
    EngineLoop::Sinks sinks;
    sinks.publish = [this](std::shared_ptr<const ClusterState> state) {
      views_->publish_state(std::move(state));
    };
    sinks.send = [](Effects) {};
    sinks.durable = [](const Committed&) {};
    sinks.fatal = [this](const Error&) { fatal_.set_value(); };
    sinks.database = [this](const Error* why) { waiting_ = why != nullptr; };
    sinks.object = [this](const core::Objection& objection) { objected_.set_value(objection); };
    epoch_ = opened->epoch;
    loop_ = std::make_unique<EngineLoop>(*journal_, std::move(opened->state),
                                         std::make_shared<const Policy>(policy_), clock_,
                                         std::move(sinks));
    if (hear_nodes_first_) loop_->hear_nodes_first();
    loop_->start();
    shown_at_start_ = views_->read().state;
  }

  void activate() {
    loop_->post(Command{Activate{epoch_, "here"}});
    loop_->post(one_partition());
  }

  std::future<core::Reply> post(Command command) {
    auto promise = std::make_shared<std::promise<core::Reply>>();
    auto future = promise->get_future();
    loop_->post(std::move(command),
                [promise](core::Reply reply) { promise->set_value(std::move(reply)); });
    return future;
  }

  std::set<JobKey> durable_jobs() const {
    std::set<JobKey> keys;
    database_->recovered().jobs.for_each([&](const JobKey& key, const Job&) { keys.insert(key); });
    return keys;
  }

  std::shared_ptr<store::MemDatabase> database_ = std::make_shared<store::MemDatabase>();
  std::unique_ptr<FaultyJournal> journal_;
  Clock clock_;
  Policy policy_;  // set before start()
  Epoch epoch_;
  std::unique_ptr<ViewHolder> views_ = std::make_unique<ViewHolder>();
  std::shared_ptr<const ClusterState> shown_at_start_;
  std::promise<void> fatal_;
  std::promise<core::Objection> objected_;
  bool hear_nodes_first_ = false;  // set it before start()
  std::atomic<bool> waiting_ = false;
  std::unique_ptr<EngineLoop> loop_;
};

TEST_F(EngineLoopTest, ReplyFollowsDurabilityAndVisibility) {
  start([](Operation, const store::Batch*) { return Fault::none; });
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto reply = post(submit(i)).get();
    ASSERT_FALSE(reply.failed) << reply.error.message;
    ASSERT_EQ(reply.jobs.size(), 1u);
    EXPECT_TRUE(durable_jobs().contains(reply.jobs.front()));
    EXPECT_NE(views_->read().state->jobs.find(reply.jobs.front()), nullptr);
  }
  loop_->stop();
}

// Regression: a query right after a restart got an empty queue, which means that all jobs have ended.
TEST_F(EngineLoopTest, RecoveredStateIsPublishedBeforeTheFirstCommit) {
  start([](Operation, const store::Batch*) { return Fault::none; });
  auto reply = post(submit(1)).get();
  ASSERT_FALSE(reply.failed) << reply.error.message;
  loop_->stop();
  views_ = std::make_unique<ViewHolder>();  // another process
  start([](Operation, const store::Batch*) { return Fault::none; });
  ASSERT_EQ(reply.jobs.size(), 1u);
  EXPECT_NE(shown_at_start_->jobs.find(reply.jobs.front()), nullptr);
  loop_->stop();
}

TEST_F(EngineLoopTest, RepliesWaitUntilTheDatabaseIsBack) {
  std::atomic<bool> away = false;
  start([&](Operation, const store::Batch*) { return away ? Fault::before : Fault::none; });
  ASSERT_FALSE(post(submit(0)).get().failed);
  away = true;
  std::vector<std::future<core::Reply>> replies;
  for (std::uint64_t i = 1; i <= 50; ++i) replies.push_back(post(submit(i)));
  while (!waiting_) std::this_thread::yield();
  for (auto& reply : replies) EXPECT_EQ(reply.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(durable_jobs().size(), 1u);
  away = false;
  std::set<JobKey> acknowledged;
  for (auto& reply : replies) {
    auto answer = reply.get();
    ASSERT_FALSE(answer.failed) << answer.error.message;
    acknowledged.insert(answer.jobs.front());
  }
  EXPECT_EQ(acknowledged.size(), 50u);
  for (const JobKey& key : acknowledged) EXPECT_TRUE(durable_jobs().contains(key));
  loop_->stop();
}

TEST_F(EngineLoopTest, WhileTheDisksAreFullChangesAreRefusedAndTheHeldOnesHappenOnce) {
  std::atomic<bool> full = false;
  std::atomic<int> reopened = 0;
  start([&](Operation operation, const store::Batch*) {
    if (operation == Operation::reopen) ++reopened;
    return full ? Fault::full : Fault::none;
  });
  ASSERT_FALSE(post(submit(0)).get().failed);
  full = true;
  auto held = post(submit(1));
  std::promise<core::Reply> sent_back;
  loop_->post(PostedCommand{submit(2),
                            [&](core::Reply reply) { sent_back.set_value(std::move(reply)); }, 100,
                            [] { return false; }, true});
  const auto refused = [&] { return loop_->refusal(UserId(1000), 100).value_or(""); };
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (refused().find("disk is full") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << refused();
    std::this_thread::sleep_for(1ms);
  }
  for (const auto& told : {post(submit(3)).get(), sent_back.get_future().get()}) {
    EXPECT_EQ(told.error.code, ErrorCode::unavailable);
    EXPECT_NE(told.error.message.find("disk is full"), std::string::npos) << told.error.message;
  }
  EXPECT_EQ(views_->read().state->jobs.size(), 1u) << "what was committed can be read";
  EXPECT_EQ(held.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(durable_jobs().size(), 1u);

  full = false;
  const auto done = held.get();
  ASSERT_FALSE(done.failed) << done.error.message;
  EXPECT_EQ(post(submit(1)).get().jobs, done.jobs);
  while (!refused().empty()) std::this_thread::sleep_for(1ms);
  for (const std::uint64_t again : {2, 3}) EXPECT_FALSE(post(submit(again)).get().failed);
  EXPECT_EQ(durable_jobs().size(), 4u);
  EXPECT_EQ(reopened, 0) << "no commit was in doubt";
  loop_->stop();
}

TEST_F(EngineLoopTest, CommitWithALostReplyHappensOnce) {
  std::atomic<int> commits = 0;
  start([&](Operation operation, const store::Batch*) {
    return operation == Operation::commit && ++commits % 3 == 0 ? Fault::after : Fault::none;
  });
  std::set<JobKey> acknowledged;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto reply = post(submit(i)).get();
    ASSERT_FALSE(reply.failed) << reply.error.message;
    EXPECT_TRUE(acknowledged.insert(reply.jobs.front()).second);
  }
  EXPECT_EQ(durable_jobs(), acknowledged);
  EXPECT_GT(views_->read().state->epoch.value(), 1u)
      << "every doubt takes a new epoch, and the engine learns of it";
  loop_->stop();
}

TEST_F(EngineLoopTest, FinalErrorStopsTheControllerWithoutReplies) {
  std::atomic<bool> broken = false;
  start([&](Operation operation, const store::Batch*) {
    return broken && operation == Operation::commit ? Fault::refuse : Fault::none;
  });
  ASSERT_FALSE(post(submit(0)).get().failed);
  broken = true;
  auto reply = post(submit(1));
  fatal_.get_future().wait();
  EXPECT_EQ(reply.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(durable_jobs().size(), 1u);
}

TEST_F(EngineLoopTest, StopDuringAnOutageRepliesUnavailable) {
  std::atomic<bool> away = false;
  start([&](Operation, const store::Batch*) { return away ? Fault::before : Fault::none; });
  ASSERT_FALSE(post(submit(0)).get().failed);
  away = true;
  auto reply = post(submit(1));
  while (!waiting_) std::this_thread::yield();
  loop_->stop();
  auto answer = reply.get();
  EXPECT_TRUE(answer.failed);
  EXPECT_EQ(answer.error.code, ErrorCode::unavailable);
}

TEST_F(EngineLoopTest, RepeatedRequestGetsTheSameJob) {
  start([](Operation, const store::Batch*) { return Fault::none; });
  std::vector<std::future<core::Reply>> replies;
  for (int i = 0; i < 10; ++i) replies.push_back(post(submit(7)));
  std::set<JobKey> jobs;
  for (auto& reply : replies) {
    auto answer = reply.get();
    ASSERT_FALSE(answer.failed) << answer.error.message;
    jobs.insert(answer.jobs.front());
  }
  EXPECT_EQ(jobs.size(), 1u);
  EXPECT_EQ(durable_jobs().size(), 1u);
  loop_->stop();
}

// Regression: the tick was skipped if commands filled the batch, so begin times, leases and retention were late under load.
TEST_F(EngineLoopTest, TicksHappenUnderLoad) {
  policy_.request_retention = Seconds{1};
  start([](Operation, const store::Batch*) { return Fault::none; });
  ASSERT_FALSE(post(submit(0)).get().failed);
  const RequestKey first{UserId(1000), "request-0"};
  ASSERT_NE(views_->read().state->requests.find(first), nullptr);
  // Each reply posts the next command, so that there is always more than one batch can hold.
  std::atomic<std::uint64_t> next = 1;
  std::atomic<bool> enough = false;
  std::function<void()> send = [&] {
    loop_->post(submit(next++), [&](const core::Reply&) {
      if (!enough) send();
    });
  };
  for (int i = 0; i < 2000; ++i) send();
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  const auto remembered = [&] { return views_->read().state->requests.find(first) != nullptr; };
  while (remembered() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_FALSE(remembered()) << "time never passed";
  enough = true;
  loop_->stop();
}

TEST_F(EngineLoopTest, AbandonedCommandIsNotExecuted) {
  std::atomic<bool> away = false;
  start([&](Operation, const store::Batch*) { return away ? Fault::before : Fault::none; });
  ASSERT_FALSE(post(submit(0)).get().failed);
  away = true;
  std::vector<std::future<core::Reply>> replies;
  for (std::uint64_t i = 1; i <= 2000; ++i) replies.push_back(post(submit(i)));
  while (!waiting_) std::this_thread::yield();
  // Behind more than two batches, so that the engine takes it only once the database is back.
  std::promise<core::Reply> answer;
  loop_->post(PostedCommand{submit(9999),
                            [&](core::Reply reply) { answer.set_value(std::move(reply)); }, 100,
                            [] { return true; }});
  EXPECT_EQ(answer.get_future().get().error.code, ErrorCode::unavailable);
  away = false;
  for (auto& reply : replies) EXPECT_FALSE(reply.get().failed);
  EXPECT_EQ(durable_jobs().size(), 2001u);
  loop_->stop();
}

TEST_F(EngineLoopTest, UsagePeriodBeginsOnTime) {
  const auto none = [](Operation, const store::Batch*) { return Fault::none; };
  const auto shown = [this] { return views_->read().state->usage_since; };
  start(none);
  const Time earlier = clock_.now() - 72h;
  loop_->post(Command{UsagePeriod{earlier}});
  ASSERT_FALSE(post(submit(1)).get().failed);
  EXPECT_EQ(shown(), earlier);
  loop_->stop();
  // No controller ran when the next period began.
  auto rules = std::make_shared<Fairness>();
  rules->reset = UsageReset::daily;
  policy_.fairness.value = rules;
  start_passive(none);
  // Regression: the tick came before the controller was active, and the period was lost.
  ASSERT_TRUE(post(submit(2)).get().failed);
  activate();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (shown() == earlier) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no period began";
    std::this_thread::sleep_for(1ms);
  }
  const Time now = clock_.now();
  const auto midnight = period_start(UsageReset::daily, now);
  EXPECT_TRUE(shown() == midnight || (midnight && now - *midnight < 20s))
      << "or it has just passed";
  EXPECT_EQ(database_->recovered().usage_since, shown()) << "it is as durable as all the rest";
  loop_->stop();
}

// It commits nothing more, so no fence stops it; but its messages to nodes would renew leases that its successor has fenced.
TEST_F(EngineLoopTest, IdleSupersededControllerStopsWithoutReplying) {
  start([](Operation, const store::Batch*) { return Fault::none; });
  ASSERT_FALSE(post(submit(1)).get().failed);
  store::MemJournal successor(database_);
  ASSERT_TRUE(successor.open());
  auto stopped = fatal_.get_future();
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  std::vector<std::future<core::Reply>> repeats;
  while (stopped.wait_for(10ms) == std::future_status::timeout) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it never noticed";
    repeats.push_back(post(submit(1)));  // known: a reply without a commit
  }
  EXPECT_EQ(repeats.back().wait_for(0s), std::future_status::timeout);
}

TEST_F(EngineLoopTest, WithoutAMarkNoUserIsAnsweredBeforeTheNodesWereHeard) {
  const auto none = [](Operation, const store::Batch*) { return Fault::none; };
  hear_nodes_first_ = true;
  start(none);
  ASSERT_FALSE(post(submit(1)).get().failed) << "a new cluster has no nodes to wait for";
  ASSERT_FALSE(post(registration()).get().failed);
  loop_->stop();

  views_ = std::make_unique<ViewHolder>();  // another process
  start(none);
  auto waiting = post(submit(2));
  auto plan = post(Command{TakePlan{}});
  for (int i = 0; i < 3; ++i) post(Command{Tick{}}).get();
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(plan.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(durable_jobs().size(), 1u);
  ASSERT_FALSE(post(registration()).get().failed);
  EXPECT_FALSE(waiting.get().failed);
  plan.get();
  loop_->stop();
}

TEST_F(EngineLoopTest, WhoWaitsForTheNodesIsToldThatOneOfThemObjects) {
  const auto none = [](Operation, const store::Batch*) { return Fault::none; };
  start(none);
  ASSERT_FALSE(post(registration()).get().failed);
  loop_->stop();

  hear_nodes_first_ = true;
  views_ = std::make_unique<ViewHolder>();
  start(none);
  auto waiting = post(submit(1));
  EXPECT_EQ(post(registration({"", Epoch(1), "", Lsn(1'000'000), JobId(7)})).get().error.code,
            ErrorCode::stale);
  EXPECT_EQ(objected_.get_future().get().heard.next_job_id, JobId(7));
  EXPECT_EQ(waiting.get().error.code, ErrorCode::unavailable);
  EXPECT_EQ(post(submit(2)).get().error.code, ErrorCode::unavailable);
  EXPECT_TRUE(durable_jobs().empty());
  loop_->stop();
}

TEST_F(EngineLoopTest, AStopDuringTheRollCallAnswersWhoWaits) {
  const auto none = [](Operation, const store::Batch*) { return Fault::none; };
  start(none);
  ASSERT_FALSE(post(registration()).get().failed);
  loop_->stop();
  hear_nodes_first_ = true;
  views_ = std::make_unique<ViewHolder>();
  start(none);
  auto waiting = post(submit(1));
  auto plan = post(Command{TakePlan{}});
  loop_->stop();
  EXPECT_EQ(waiting.get().error.code, ErrorCode::unavailable);
  EXPECT_TRUE(plan.get().failed);
}

}  // namespace
}  // namespace ares::aresctld
