// NodeAgent with a controller that does not answer as it should.
#include "node/agent.h"

#include <gtest/gtest.h>

#include "node/memory_spool.h"

namespace ares::node {
namespace {

using namespace std::chrono_literals;

class Wire final : public Uplink {
 public:
  void send(FromNode message) override { said.push_back(std::move(message)); }
  template <class Message>
  std::size_t count() const {
    std::size_t n = 0;
    for (const FromNode& m : said) n += std::holds_alternative<Message>(m.body) ? 1 : 0;
    return n;
  }
  std::vector<FromNode> said;
};

class AllUsersExist final : public Users {
 public:
  Result<UserIdentity> find(UserId, GroupId gid) override {
    return UserIdentity{"u", gid, {gid}, "/", "/bin/sh"};
  }
};

class Nothing final : public Executor {
 public:
  Status launch(const StepSpec&, Moment) override { return {}; }
  void go(const Go&, std::optional<BootTime>, Moment) override {}
  void kill(const Kill&, Moment) override {}
  void signal(const Signal&, Moment) override {}
  void set_limit(const SetLimit&, Moment) override {}
  void set_suspended(const SetSuspended&, Moment) override {}
  void renew_lease(const AttemptKey&, BootTime, Moment) override {}
  void release(const AttemptKey&, Moment) override {}
  std::vector<AttemptReport> list(Moment) override { return {}; }
};

Moment at(Duration since_boot) {
  return {Time(1'800'000'000s) + since_boot, BootTime(since_boot)};
}

// Regression, found by simulation: after a network outage longer than the lease the session was
// alive and the node lost, so the controller refused heartbeats without an answer.
TEST(NodeAgent, RegistersAgainWhenHeartbeatsStayUnanswered) {
  MemorySpool spool;
  Wire wire;
  AllUsersExist users;
  Nothing executor;
  AgentSetup setup;
  setup.name = "n1";
  setup.boot_id = "boot";
  setup.fresh_uuid = "uuid";
  NodeAgent agent(setup, spool, users, wire);
  ASSERT_TRUE(agent.recover(executor, at(1s)));
  agent.connected(at(2s));
  agent.receive(ToNode{"n1", Epoch(1), Welcome{agent.incarnation(), 300s, 10s}}, at(2s));
  ASSERT_EQ(wire.count<Register>(), 1u);

  for (Duration t = 3s; t < 120s; t += 1s) agent.tick(at(t));
  EXPECT_GE(wire.count<Register>(), 2u);

  // Answered heartbeats cause no further registration.
  const std::size_t before = wire.count<Register>();
  agent.receive(ToNode{"n1", Epoch(1), Welcome{agent.incarnation(), 300s, 10s}}, at(120s));
  for (Duration t = 121s; t < 240s; t += 1s) {
    agent.tick(at(t));
    if (const auto* h = std::get_if<Heartbeat>(&wire.said.back().body))
      agent.receive(ToNode{"n1", Epoch(1), HeartbeatAck{h->sequence}}, at(t));
  }
  EXPECT_EQ(wire.count<Register>(), before);
}

}  // namespace
}  // namespace ares::node
