// Tests: exchange
#include "steps/manager.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>

namespace ares::steps {
namespace {

// Keeps what the manager wants, as a step host would do it.
struct FakeLinks final : StepLinks {
  std::map<ClientId, std::vector<Frame>> told;
  std::set<ClientId> closed;
  std::map<std::pair<StepNumber, std::uint32_t>, std::vector<Frame>> sent;
  std::set<std::pair<StepNumber, std::uint32_t>> open;
  StepNumber next = 0;
  bool disk_full = false;

  void to_client(ClientId client, const Frame& frame) override { told[client].push_back(frame); }
  void close_client(ClientId client) override { closed.insert(client); }
  void to_viewer(ClientId viewer, const Frame& frame) override { told[viewer].push_back(frame); }
  Result<StepNumber> new_number() override {
    if (disk_full) return fail(ErrorCode::resource_exhausted, "No space left on device");
    return next++;
  }
  std::string name_of(StepNumber step) override { return "s" + std::to_string(step); }
  void open_node(StepNumber step, std::uint32_t node) override { open.insert({step, node}); }
  void to_node(StepNumber step, std::uint32_t node, const Frame& frame) override {
    sent[{step, node}].push_back(frame);
  }
  void close_node(StepNumber step, std::uint32_t node) override { open.erase({step, node}); }
  void account(const StepAccount& account) override { accounts.push_back(account); }
  void kill_later(StepNumber step) override { kills.insert(step); }
  void limit_time(StepNumber step, Seconds limit) override { limits[step] = limit; }
  std::vector<StepAccount> accounts;
  std::map<StepNumber, Seconds> limits;
  std::set<StepNumber> kills;
};

class ManagerTest : public testing::Test {
 protected:
  FakeLinks links;
  StepManager manager{{{"n1", 2, 1}, {"n2", 2, 1}}, links};

  static StepRequest request(std::uint32_t tasks, std::uint32_t nodes) {
    StepRequest request;
    request.task.arguments = {"true"};
    request.task.directory = "/";
    request.tasks = tasks;
    request.nodes = nodes;
    return request;
  }
  void ask(ClientId client, const StepRequest& wanted) {
    manager.from_client(client, {FrameKind::create, 0, encode(wanted)});
  }
  void from(StepNumber step, std::uint32_t node, FrameKind kind, std::uint32_t number = 0,
            std::string payload = {}) {
    manager.from_node(step, node, {kind, number, std::move(payload)});
  }
  void finish(StepNumber step, std::uint32_t node, std::uint32_t rank, int code = 0) {
    from(step, node, FrameKind::ended, rank, encode(TaskEnd{.code = code}));
    from(step, node, FrameKind::over);
  }
  bool was_sent(StepNumber step, std::uint32_t node, FrameKind kind) {
    const auto& frames = links.sent[{step, node}];
    return std::any_of(frames.begin(), frames.end(),
                       [&](const Frame& frame) { return frame.kind == kind; });
  }
  FrameKind last_told(ClientId client) {
    return links.told[client].empty() ? FrameKind{} : links.told[client].back().kind;
  }
};

TEST_F(ManagerTest, NoNodeIsToldToGoBeforeAllAreReady) {
  ask(1, request(2, 2));
  EXPECT_TRUE(was_sent(0, 0, FrameKind::launch) && was_sent(0, 1, FrameKind::launch));
  from(0, 0, FrameKind::ready);
  from(0, 0, FrameKind::ready);  // said twice
  EXPECT_FALSE(was_sent(0, 0, FrameKind::go));
  from(0, 1, FrameKind::ready);
  EXPECT_TRUE(was_sent(0, 0, FrameKind::go) && was_sent(0, 1, FrameKind::go));
  EXPECT_EQ(last_told(1), FrameKind::created);
}

TEST_F(ManagerTest, StepAtItsTimeLimitGetsTermAndThenKillAndIsAccountedSo) {
  StepRequest limited = request(2, 2);
  limited.time_limit = 60;
  limited.name = "solver";
  ask(1, limited);
  EXPECT_TRUE(links.limits.empty()) << "its tasks have not begun";
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  EXPECT_EQ(links.limits[0], Seconds(60));
  finish(0, 1, 1);
  const std::size_t sent_to_ended = links.sent[{0, 1}].size();
  manager.time_out(0);
  manager.time_out(0);
  const std::vector<Frame>& sent = links.sent[{0, 0}];
  EXPECT_EQ(std::count(sent.begin(), sent.end(), Frame{FrameKind::signal, SIGTERM, {}}), 1);
  EXPECT_EQ((links.sent[{0, 1}].size()), sent_to_ended);
  EXPECT_TRUE(links.kills.contains(0));
  EXPECT_NE(links.told[1].back().payload.find("time limit"), std::string::npos);
  finish(0, 0, 0, 15);
  EXPECT_EQ(links.accounts.back().state, StepState::timeout);
  EXPECT_EQ(links.accounts.back().name, "solver");
  manager.time_out(0);  // too late
}

TEST_F(ManagerTest, LimitOfAStepChangesUntilItIsEnded) {
  ask(1, request(1, 1));
  EXPECT_TRUE(manager.set_limit(0, Seconds(90))) << "its tasks have not begun";
  EXPECT_TRUE(links.limits.empty());
  from(0, 0, FrameKind::ready);
  EXPECT_EQ(links.limits[0], Seconds(90));
  EXPECT_TRUE(manager.set_limit(0, Seconds(30)));
  EXPECT_EQ(links.limits[0], Seconds(30));
  EXPECT_TRUE(manager.set_limit(0, Seconds(0)));
  EXPECT_EQ(links.limits[0], Seconds(0)) << "none";
  EXPECT_FALSE(manager.set_limit(1, Seconds(30))) << "there is no such step";
  manager.time_out(0);
  EXPECT_FALSE(manager.set_limit(0, Seconds(600))) << "it was told to end";
  EXPECT_EQ(links.limits[0], Seconds(0));
}

TEST_F(ManagerTest, StepEndsWhenAllNodesHaveSentAllOutput) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  finish(0, 0, 0);
  EXPECT_NE(last_told(1), FrameKind::over);
  from(0, 1, FrameKind::output, 1, "late");
  finish(0, 1, 1);
  EXPECT_EQ(last_told(1), FrameKind::over);
  EXPECT_TRUE(links.closed.contains(1) && links.open.empty() && manager.idle());
}

TEST_F(ManagerTest, NodeThatCannotStartEndsTheStepBeforeAnyTaskRan) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::refused, 0, "disk full");
  EXPECT_FALSE(was_sent(0, 0, FrameKind::go));
  EXPECT_EQ(links.told[1].back(), (Frame{FrameKind::refused, 0, "n2: disk full"}));
  EXPECT_TRUE(links.open.empty());
}

TEST_F(ManagerTest, LossOfANodeEndsTheStepEverywhere) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  manager.node_lost(0, 1, "the connection was closed");
  EXPECT_EQ(last_told(1), FrameKind::refused);
  EXPECT_TRUE(links.open.empty() && manager.idle());
}

TEST_F(ManagerTest, LossOfTheClientEndsItsTasksAndFreesTheirCpus) {
  ask(1, request(2, 2));
  ask(2, request(1, 1));
  EXPECT_EQ(last_told(2), FrameKind::waits);
  manager.client_lost(1);
  EXPECT_EQ(links.open, (std::set<std::pair<StepNumber, std::uint32_t>>{{1, 0}}));
}

TEST_F(ManagerTest, AccountOfAStepSumsUpItsTasks) {
  ask(1, request(2, 2));
  EXPECT_TRUE(links.accounts.empty()) << "no task has begun";
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  ASSERT_EQ(links.accounts.size(), 1u);
  EXPECT_EQ(links.accounts[0].state, StepState::running);
  EXPECT_EQ(links.accounts[0].nodes, (std::vector<std::uint32_t>{0, 1}));
  TaskEnd first, second;
  first.user_cpu = second.user_cpu = std::chrono::seconds(1);
  first.max_rss = 100;
  second.max_rss = 300;
  second.code = 2;
  from(0, 0, FrameKind::usage, 0, encode(first));
  EXPECT_EQ(links.accounts.back().used.user_cpu, std::chrono::seconds(1)) << "while it runs";
  from(0, 0, FrameKind::ended, 0, encode(first));
  from(0, 1, FrameKind::ended, 1, encode(second));
  from(0, 0, FrameKind::over);
  from(0, 1, FrameKind::over);
  const StepAccount& last = links.accounts.back();
  EXPECT_EQ(last.state, StepState::failed);
  EXPECT_EQ(last.worst.code, 2);
  EXPECT_EQ(last.used.user_cpu, std::chrono::seconds(2));
  EXPECT_EQ(last.on_first.user_cpu, std::chrono::seconds(1));
  EXPECT_TRUE(last.used.max_rss == 300 && last.sum_rss == 400 && last.max_rss_node == 1);
  EXPECT_EQ(last.name, "true");
}

TEST_F(ManagerTest, CancelledStepGetsTermAndThenKillAndIsAccountedAsCancelled) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  manager.cancel({0, 0, UserId(7)});
  const auto& sent = links.sent[{0, 1}];
  EXPECT_EQ(sent.back(), (Frame{FrameKind::signal, SIGTERM, {}}));
  EXPECT_TRUE(links.kills.contains(0));
  manager.kill(0);
  EXPECT_EQ(sent.back(), (Frame{FrameKind::signal, SIGKILL, {}}));
  for (const std::uint32_t node : {0u, 1u}) {
    from(0, node, FrameKind::ended, node, encode(TaskEnd{.signal = SIGKILL}));
    from(0, node, FrameKind::over);
  }
  EXPECT_EQ(links.accounts.back().state, StepState::cancelled);
  EXPECT_EQ(links.accounts.back().cancelled_by, UserId(7));
  manager.cancel({0, 0, UserId(7)});  // it has ended
  manager.kill(0);
}

TEST_F(ManagerTest, SignalFromTheNodeDaemonReachesAllTasksAndCancelsNothing) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  manager.cancel({0, SIGUSR1, UserId(7)});
  for (const std::uint32_t node : {0u, 1u})
    EXPECT_EQ((links.sent[{0, node}].back()), (Frame{FrameKind::signal, SIGUSR1, {}}));
  EXPECT_TRUE(links.kills.empty());
  finish(0, 0, 0);
  finish(0, 1, 1);
  EXPECT_EQ(links.accounts.back().state, StepState::completed);
}

TEST_F(ManagerTest, StepThatIsCancelledBeforeItsTasksBeganRunsNone) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  manager.cancel({0, 0, UserId(7)});
  EXPECT_EQ(last_told(1), FrameKind::refused);
  EXPECT_FALSE(was_sent(0, 0, FrameKind::go));
  EXPECT_TRUE(links.accounts.empty() && manager.idle());
}

TEST_F(ManagerTest, StepWhoseClientIsLostIsAccountedAsCancelled) {
  ask(1, request(2, 2));
  from(0, 0, FrameKind::ready);
  from(0, 1, FrameKind::ready);
  manager.client_lost(1);
  EXPECT_EQ(links.accounts.back().state, StepState::cancelled);
}

TEST_F(ManagerTest, ClientThatLeavesWhenAllTasksHaveEndedCancelsNothing) {
  ask(1, request(1, 1));
  from(0, 0, FrameKind::ready);
  from(0, 0, FrameKind::ended, 0, encode(TaskEnd{}));
  // Recorded before the client leaves: the job may end with it, and then this process.
  EXPECT_EQ(links.accounts.back().state, StepState::completed);
  const std::size_t recorded = links.accounts.size();
  from(0, 0, FrameKind::usage, 0, encode(TaskEnd{}));
  manager.client_lost(1);  // before the node has said that it is over
  EXPECT_EQ(links.accounts.size(), recorded);
}

TEST_F(ManagerTest, StepsWaitInTheOrderOfTheirArrival) {
  ask(1, request(2, 2));
  ask(2, request(2, 2));
  StepRequest small = request(1, 1);
  small.exact = true;
  ask(3, small);
  EXPECT_EQ(last_told(3), FrameKind::waits);
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  for (const std::uint32_t node : {0U, 1U}) finish(0, node, node);
  EXPECT_TRUE(links.open.contains({1, 0}) && links.open.contains({1, 1}));
  EXPECT_FALSE(links.open.contains({2, 0}));
}

TEST_F(ManagerTest, OneThatDoesNotWaitIsRefused) {
  ask(1, request(2, 2));
  StepRequest now = request(1, 1);
  now.immediate = true;
  ask(2, now);
  EXPECT_EQ(last_told(2), FrameKind::refused);
  EXPECT_TRUE(links.closed.contains(2));
}

TEST_F(ManagerTest, OverlappingStepStartsBesideOthers) {
  ask(1, request(2, 2));
  StepRequest shared = request(1, 1);
  shared.overlap = true;
  ask(2, shared);
  EXPECT_TRUE(links.open.contains({1, 0}));
}

TEST_F(ManagerTest, FailedTaskEndsTheOthersIfAsked) {
  StepRequest strict = request(2, 2);
  strict.kill_on_bad_exit = true;
  ask(1, strict);
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  from(0, 0, FrameKind::ended, 0, encode(TaskEnd{.code = 3}));
  EXPECT_EQ(links.sent[std::make_pair(0U, 1U)].back(), (Frame{FrameKind::signal, SIGKILL, {}}));
}

TEST_F(ManagerTest, InputOfOneRankGoesToItsNodeOnly) {
  ask(1, request(2, 2));
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  manager.from_client(1, {FrameKind::input, 1, "x"});
  EXPECT_FALSE(was_sent(0, 0, FrameKind::input));
  EXPECT_TRUE(was_sent(0, 1, FrameKind::input));
}

TEST_F(ManagerTest, ExchangeIsAnsweredWhenEveryNodeHasAddedToIt) {
  ask(1, request(2, 2));
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  const std::string bytes("a\0\n", 3);
  from(0, 1, FrameKind::contribute, 0, encode(Contribution{"f", {}, "b"}));
  from(0, 1, FrameKind::contribute, 0, "nonsense");
  EXPECT_FALSE(was_sent(0, 1, FrameKind::gather));
  from(0, 0, FrameKind::contribute, 0, encode(Contribution{"f", {}, bytes}));
  for (const std::uint32_t node : {0U, 1U}) {
    const Result<Gathered> gathered =
        decode_gathered(links.sent[std::make_pair(0U, node)].back().payload);
    ASSERT_TRUE(gathered);
    EXPECT_EQ(*gathered, (Gathered{"f", {bytes, "b"}}));
  }
}

TEST_F(ManagerTest, ExchangesOfPartOfTheNodesAreApart) {
  ask(1, request(2, 2));
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  from(0, 0, FrameKind::contribute, 0, encode(Contribution{"both", {0, 1}, "x"}));
  from(0, 1, FrameKind::contribute, 0, encode(Contribution{"one", {1}, "y"}));
  EXPECT_FALSE(was_sent(0, 0, FrameKind::gather));
  EXPECT_EQ(decode_gathered(links.sent[std::make_pair(0U, 1U)].back().payload),
            (Gathered{"one", {"y"}}));
}

TEST_F(ManagerTest, QuestionGoesToTheNodeOfTheRankAndItsAnswerBack) {
  ask(1, request(2, 2));
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  from(0, 1, FrameKind::question, 0, encode(Question{7, 99, 0}));
  EXPECT_EQ(decode_question(links.sent[std::make_pair(0U, 0U)].back().payload),
            (Question{7, 1, 0}));
  from(0, 0, FrameKind::answer, 0, encode(Answer{7, 1, true, "data"}));
  EXPECT_EQ(decode_answer(links.sent[std::make_pair(0U, 1U)].back().payload),
            (Answer{7, 1, true, "data"}));
  from(0, 1, FrameKind::question, 0, encode(Question{8, 0, 5}));
  EXPECT_EQ(decode_answer(links.sent[std::make_pair(0U, 1U)].back().payload),
            (Answer{8, 1, false, ""}));
}

TEST_F(ManagerTest, FullDiskRefusesTheStep) {
  links.disk_full = true;
  ask(1, request(1, 1));
  EXPECT_EQ(links.told[1].back(), (Frame{FrameKind::refused, 0, "No space left on device"}));
  links.disk_full = false;
  ask(2, request(2, 2));
  EXPECT_TRUE(links.open.contains({0, 0})) << "nothing was occupied";
}

TEST_F(ManagerTest, ClientThatTalksNonsenseIsRefused) {
  manager.from_client(1, {FrameKind::input, 0, "x"});
  EXPECT_EQ(last_told(1), FrameKind::refused);
  manager.from_client(2, {FrameKind::create, 0, "nonsense"});
  EXPECT_EQ(last_told(2), FrameKind::refused);
  ask(3, request(5, 2));
  EXPECT_EQ(last_told(3), FrameKind::refused) << "the job has four CPUs";
}

TEST_F(ManagerTest, SignalGivesUpAStepThatWaits) {
  ask(1, request(2, 2));
  ask(2, request(1, 1));
  manager.from_client(2, {FrameKind::signal, SIGINT, {}});
  EXPECT_EQ(last_told(2), FrameKind::refused);
  manager.client_lost(1);
  EXPECT_TRUE(manager.idle());
}

TEST_F(ManagerTest, ViewersGetWhatTheClientGets) {
  ask(1, request(2, 2));
  manager.from_client(7, {FrameKind::attach, 0, {}});
  EXPECT_EQ(last_told(7), FrameKind::refused) << "its tasks have not begun";
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  for (const ClientId viewer : {8, 9}) manager.from_client(viewer, {FrameKind::attach, 0, {}});
  EXPECT_EQ(links.told[8], links.told[1]) << "the layout";
  manager.client_lost(9);
  from(0, 1, FrameKind::output, 1, "text");
  for (const std::uint32_t node : {0U, 1U}) finish(0, node, node);
  EXPECT_EQ(links.told[8], links.told[1]);
  EXPECT_EQ(last_told(9), FrameKind::created);
  EXPECT_TRUE(links.closed.contains(8) && manager.idle());
}

TEST_F(ManagerTest, InputOfAViewerGoesToTheTasksAndItsEndToNone) {
  ask(1, request(2, 2));
  for (const std::uint32_t node : {0U, 1U}) from(0, node, FrameKind::ready);
  manager.from_client(8, {FrameKind::attach, 0, {}});
  manager.from_client(8, {FrameKind::input, 1, "line"});
  EXPECT_EQ(links.sent[std::pair(0U, 1U)].back(), (Frame{FrameKind::input, 1, "line"}));
  EXPECT_FALSE(was_sent(0, 0, FrameKind::input));
  manager.from_client(8, {FrameKind::input, kAllRanks, {}});
  EXPECT_FALSE(was_sent(0, 0, FrameKind::input));
  manager.from_client(8, {FrameKind::signal, 9, {}});
  EXPECT_FALSE(was_sent(0, 0, FrameKind::signal)) << "it only looks on";
  manager.client_lost(8);
  EXPECT_TRUE(links.open.contains({0, 0})) << "the step goes on";
}

}  // namespace
}  // namespace ares::steps
