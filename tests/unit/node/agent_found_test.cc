// Tests: agent
// The agent of a node that its executor has found: what it offers changes, and the executor alone keeps records.
#include "node/agent.h"

#include <gtest/gtest.h>

#include "node/memory_spool.h"

namespace ares::node {
namespace {

const AttemptKey kFoundKey{{JobId(7), TaskIndex{}}, AttemptNo(2)};

class Records final : public Executor {
 public:
  std::vector<AttemptReport> attempts;
  std::vector<AttemptKey> released;
  std::vector<Kill> kills;
  std::vector<AttemptKey> given_up;
  std::vector<BootTime> renewed;
  std::vector<std::optional<BootTime>> started;  // with the lease that go() told

  Status launch(const StepSpec&, Moment) override { return {}; }
  void go(const Go&, std::optional<BootTime> lease, Moment) override { started.push_back(lease); }
  void kill(const Kill& kill, Moment) override { kills.push_back(kill); }
  void give_up(const Kill& kill, Moment) override { given_up.push_back(kill.attempt); }
  void signal(const Signal&, Moment) override {}
  void set_limit(const SetLimit&, Moment) override {}
  void set_suspended(const SetSuspended&, Moment) override {}
  void renew_lease(const AttemptKey&, BootTime until, Moment) override { renewed.push_back(until); }
  void release(const AttemptKey& key, Moment) override { released.push_back(key); }
  std::vector<AttemptReport> list(Moment) override { return attempts; }
};

class FoundNodeAgent : public ::testing::Test, private Uplink, private Users {
 protected:
  void start() {
    spool = std::make_unique<MemorySpool>();
    (void)spool->write_identity(encode(NodeIdentity{.uuid = "found",
                                                    .boot_id = "uid-1",
                                                    .incarnation = 40,
                                                    .highest_epoch = {},
                                                    .highest_lsn = {}}));
    AgentSetup setup;
    setup.name = "k1";
    setup.boot_id = "uid-1";
    setup.fresh_uuid = "found";
    setup.inventory.cpus = 4;
    setup.joins = true;
    setup.can_freeze = true;
    Uplink& uplink = *this;
    Users& users = *this;
    agent = std::make_unique<NodeAgent>(setup, *spool, users, uplink);
    ASSERT_TRUE(agent->recover(records, now));
    agent->connected(now);
  }
  void tell(ToNodeBody body) { agent->receive({"k1", Epoch(1), std::move(body)}, now); }
  template <class T>
  std::vector<T> sent() const {
    std::vector<T> out;
    for (const FromNode& message : messages)
      if (const T* body = std::get_if<T>(&message.body)) out.push_back(*body);
    return out;
  }

  Records records;
  Moment now{Time(Seconds(1'000'000)), BootTime(Seconds(1000))};
  std::unique_ptr<MemorySpool> spool;
  std::unique_ptr<NodeAgent> agent;
  std::vector<FromNode> messages;

 private:
  void send(FromNode message) override { messages.push_back(std::move(message)); }
  Result<UserIdentity> find(UserId, GroupId gid) override {
    return UserIdentity{{}, gid, {}, {}, {}};
  }
};

// The launch was refused, because the agent had no record of it.
TEST_F(FoundNodeAgent, AnAttemptThatTheExecutorHasBegunIsNotLaunchedAgain) {
  records.attempts = {bare_report(kFoundKey, Fence(9), AttemptPhase::accepted)};
  start();
  Prepare prepare;
  prepare.launch.attempt = kFoundKey;
  prepare.launch.fence = Fence(9);
  prepare.launch.spec = std::make_shared<const JobSpec>();
  prepare.launch.share.incarnation = 40;
  tell(prepare);
  EXPECT_TRUE(sent<LaunchRefused>().empty());
  EXPECT_TRUE(records.released.empty());
  ASSERT_FALSE(sent<Progress>().empty());
  EXPECT_EQ(sent<Progress>().back().report.phase, AttemptPhase::accepted);
}

TEST_F(FoundNodeAgent, RegistersAsTheIncarnationThatWasFound) {
  start();
  const Register first = sent<Register>().back();
  EXPECT_EQ(first.incarnation, 40u);
  EXPECT_EQ(first.incarnation_tag, "found/uid-1");
  EXPECT_TRUE(first.joins);
  start();  // a daemon that starts again, on any machine
  EXPECT_EQ(sent<Register>().back().incarnation, 40u);
  EXPECT_EQ(sent<Register>().back().incarnation_tag, first.incarnation_tag);
}

TEST_F(FoundNodeAgent, RegistersAgainWhenItOffersSomethingElse) {
  start();
  tell(Welcome{40, Seconds(300), Seconds(10)});
  const std::size_t before = sent<Register>().size();
  Inventory inventory;
  inventory.cpus = 4;
  agent->set_inventory(inventory, now);
  EXPECT_EQ(sent<Register>().size(), before) << "nothing has changed";
  inventory.cpus = 3;
  agent->set_inventory(inventory, now);
  ASSERT_EQ(sent<Register>().size(), before + 1);
  EXPECT_EQ(sent<Register>().back().inventory.cpus, 3u);
  agent->disconnected();
  inventory.cpus = 2;
  agent->set_inventory(inventory, now);
  EXPECT_EQ(sent<Register>().size(), before + 1) << "there is no session";
  agent->connected(now);
  EXPECT_EQ(sent<Register>().back().inventory.cpus, 2u);
}

// Regression: the lease of an attempt from before a restart was not renewed, and one that was ready started without.
TEST_F(FoundNodeAgent, LeasesOfSuchAttemptsAreRenewedAndPrecedeTheirStart) {
  records.attempts = {bare_report(kFoundKey, Fence(9), AttemptPhase::ready)};
  start();
  tell(Welcome{40, Seconds(300), Seconds(10)});
  tell(Go{kFoundKey, Fence(9)});
  tell(HeartbeatAck{sent<Heartbeat>().back().sequence});
  ASSERT_FALSE(records.renewed.empty());
  EXPECT_EQ(records.renewed.back(), now.boot + Seconds(300));
  ASSERT_FALSE(records.started.empty());
  EXPECT_EQ(records.started.back(), std::optional(now.boot + Seconds(300)));
}

TEST_F(FoundNodeAgent, SaysThatItsMachineIsGoneAndRegistersWhenItIsBack) {
  records.attempts = {bare_report(kFoundKey, Fence(9), AttemptPhase::running)};
  start();
  EXPECT_FALSE(sent<Register>().back().machine_gone);
  tell(Welcome{40, Seconds(300), Seconds(10)});
  agent->set_machine_gone(true, now);
  EXPECT_TRUE(sent<Heartbeat>().back().machine_gone) << "at once";
  agent->disconnected();
  agent->connected(now);
  EXPECT_TRUE(sent<Register>().back().machine_gone);
  const std::size_t before = sent<Register>().size();
  agent->set_machine_gone(false, now);
  ASSERT_EQ(sent<Register>().size(), before + 1);
  EXPECT_FALSE(sent<Register>().back().machine_gone);
}

TEST_F(FoundNodeAgent, OnlyWhatTheControllerDoesNotWaitForIsGivenUp) {
  records.attempts = {bare_report(kFoundKey, Fence(9), AttemptPhase::running)};
  start();
  tell(Kill{kFoundKey, Fence(9)});
  EXPECT_TRUE(records.given_up.empty());
  tell(Kill{.attempt = kFoundKey, .fence = Fence(9), .immediately = true, .given_up = true});
  EXPECT_EQ(records.given_up, std::vector<AttemptKey>{kFoundKey});
  EXPECT_EQ(records.kills.size(), 2u);
}

TEST_F(FoundNodeAgent, AttemptsAreKnownFromTheExecutorAlone) {
  AttemptReport running = bare_report(kFoundKey, Fence(9), AttemptPhase::running);
  records.attempts = {running};
  start();
  ASSERT_EQ(sent<Register>().back().attempts.size(), 1u);
  EXPECT_EQ(sent<Register>().back().attempts[0], running);
  EXPECT_EQ(sent<Register>().back().highest_lsn, Lsn(9));

  tell(Kill{kFoundKey, Fence(8)});
  EXPECT_TRUE(records.kills.empty()) << "of an earlier fence";
  tell(Kill{kFoundKey, Fence(9)});
  ASSERT_EQ(records.kills.size(), 1u);
  AttemptReport done = running;
  done.phase = AttemptPhase::done;
  done.exit.signal = 15;
  agent->attempt_changed(done, now);
  EXPECT_EQ(sent<Progress>().back().report, done);
  EXPECT_TRUE(records.released.empty()) << "the result is not stored yet";
  tell(Forget{kFoundKey, Fence(9)});
  EXPECT_EQ(records.released, std::vector<AttemptKey>{kFoundKey});
  EXPECT_TRUE(agent->attempts().empty());
}

}  // namespace
}  // namespace ares::node
