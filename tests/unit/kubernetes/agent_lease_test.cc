#include "exec/kubernetes/agent/lease/agent_lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace ares::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = AgentLease::State;

// The object at an API server.
struct Server {
  std::optional<LeaseRecord> object;
  std::uint64_t version = 0;
  bool is_terminating = false;  // the namespace

  LeaseAnswer carry_out(const LeaseCall& call) {
    const WriteLease* write = std::get_if<WriteLease>(&call);
    if (!write) return object ? LeaseAnswer{.record = object} : failed(Failure::not_found);
    if (write->version.empty() && object) return failed(Failure::already_exists);
    if (write->version.empty() && is_terminating) return failed(Failure::terminating);
    if (!write->version.empty() && !object) return failed(Failure::not_found);
    if (object && object->version != write->version) return failed(Failure::conflict);
    object = LeaseRecord{std::to_string(++version), write->holder, seconds(15), write->transitions};
    return {.record = object};
  }
  static LeaseAnswer failed(Failure failure) { return {.failure = failure}; }
};

// One agent, whose calls are answered at once.
struct Agent {
  AgentLease lease;
  Server& server;

  Agent(const std::string& name, Server& with) : lease(name, {}), server(with) {}
  // Makes all calls that are due.
  void run(BootTime now, bool has_holder_ended = false) {
    for (int i = 0; i < 10; ++i) {
      const auto call = lease.next(now);
      if (!call) return;
      LeaseAnswer answer = server.carry_out(*call);
      answer.has_holder_ended = has_holder_ended;
      lease.answered(answer, now);
    }
    FAIL() << "it does not wait";
  }
};

class AgentLeaseTest : public testing::Test {
 protected:
  // Lets both work each half second.
  void run_both(BootTime until) {
    for (; now < until; now += milliseconds(500)) {
      first.run(now);
      second.run(now);
    }
  }

  Server server;
  Agent first{"first", server}, second{"second", server};
  BootTime now{seconds(1000)};
};

TEST_F(AgentLeaseTest, TheFirstAgentCreatesTheLease) {
  first.run(now);
  EXPECT_EQ(first.lease.state(), State::held);
  EXPECT_EQ(first.lease.write_until(), now + seconds(10));
  EXPECT_EQ(server.object->holder, "first");
  EXPECT_EQ(server.object->transitions, 0u);
}

TEST_F(AgentLeaseTest, OneThatIsRenewedIsNotTaken) {
  run_both(now + seconds(300));
  EXPECT_EQ(first.lease.state(), State::held);
  EXPECT_EQ(second.lease.state(), State::standby);
  EXPECT_EQ(second.lease.holder(), "first");
  EXPECT_GE(first.lease.write_until(), now + seconds(4));
}

TEST_F(AgentLeaseTest, OneThatIsNotRenewedIsTakenAfterItsTimeAndThatOfACall) {
  run_both(now + seconds(20));
  const BootTime stopped = now;
  for (; second.lease.state() != State::held; now += milliseconds(500)) second.run(now);
  EXPECT_GE(now - stopped, seconds(15));  // the last renewal was up to five seconds before
  EXPECT_LT(now - stopped, seconds(22));
  EXPECT_GE(now, first.lease.write_until() + seconds(10));
  EXPECT_EQ(server.object->transitions, 1u);
  first.run(now);
  EXPECT_EQ(first.lease.state(), State::lost);
  EXPECT_EQ(first.lease.holder(), "second");
  EXPECT_EQ(first.lease.write_until(), BootTime{});
  EXPECT_FALSE(first.lease.next_deadline());
}

TEST_F(AgentLeaseTest, OneOfADeadProcessIsTakenAtOnce) {
  first.run(now);
  second.run(now, true);
  EXPECT_EQ(second.lease.state(), State::held);
}

TEST_F(AgentLeaseTest, OneThatWasGivenUpIsTakenAtTheNextLook) {
  run_both(now + seconds(7));
  first.lease.give_up();
  EXPECT_EQ(first.lease.write_until(), BootTime{});
  first.run(now);
  EXPECT_EQ(first.lease.state(), State::given_up);
  EXPECT_EQ(server.object->holder, "");
  now += seconds(1);
  second.run(now);
  EXPECT_EQ(second.lease.state(), State::held);
}

TEST_F(AgentLeaseTest, ALeaseOfLongerDurationIsWaitedFor) {
  server.object = LeaseRecord{"1", "of another release", seconds(60), 3};
  const BootTime began = now;
  for (; second.lease.state() != State::held; now += milliseconds(500)) second.run(now);
  EXPECT_GE(now - began, seconds(65));
  EXPECT_EQ(server.object->transitions, 4u);
}

TEST_F(AgentLeaseTest, ARemovedLeaseIsMadeAgainByItsHolder) {
  run_both(now + seconds(7));
  server.object.reset();
  run_both(now + seconds(60));
  EXPECT_EQ(first.lease.state(), State::held);
  EXPECT_EQ(second.lease.state(), State::standby);
  EXPECT_EQ(server.object->holder, "first");
}

// Regression: a namespace with the lease and pods was never deleted, since the agent could not renew the lease and so removed no finalizers.
TEST_F(AgentLeaseTest, TheHolderWritesWhileTheNamespaceIsDeleted) {
  first.run(now);
  server.object.reset();
  server.is_terminating = true;
  for (const BootTime end = now + seconds(60); now < end; now += milliseconds(500)) {
    first.run(now);
    second.run(now);
    EXPECT_GT(first.lease.write_until(), now + seconds(3));
    EXPECT_EQ(second.lease.write_until(), BootTime{});
  }
  server.is_terminating = false;
  run_both(now + seconds(5));
  EXPECT_EQ(first.lease.state(), State::held);
  EXPECT_EQ(second.lease.state(), State::standby);
}

TEST_F(AgentLeaseTest, AnswersThatAreLostCostNothingButTime) {
  first.run(now);
  // A renewal that the server has carried out, and that its holder takes for failed.
  now += seconds(5);
  const auto renewal = first.lease.next(now);
  ASSERT_TRUE(renewal);
  (void)server.carry_out(*renewal);
  first.lease.answered({.failure = Failure::unavailable}, now + seconds(5));
  EXPECT_EQ(first.lease.write_until(), now + seconds(5)) << "that of the first one";
  now += seconds(6);
  first.run(now);
  EXPECT_EQ(first.lease.state(), State::held);
  EXPECT_EQ(first.lease.write_until(), now + seconds(10));
  // A lease that was taken by such a call.
  Agent third("third", server);
  third.run(now);
  now += seconds(20);
  (void)third.lease.next(now);
  third.lease.answered({.record = server.object}, now);
  const auto taking = third.lease.next(now);
  ASSERT_TRUE(taking && std::holds_alternative<WriteLease>(*taking));
  (void)server.carry_out(*taking);
  third.lease.answered({.failure = Failure::unavailable}, now);
  EXPECT_EQ(third.lease.state(), State::standby);
  now += seconds(1);
  third.run(now);
  EXPECT_EQ(third.lease.state(), State::held);
  EXPECT_EQ(server.object->transitions, 1u);
}

TEST_F(AgentLeaseTest, WithoutAnAnswerTheHolderStopsToWriteAndGoesOnLater) {
  first.run(now);
  const BootTime end = first.lease.write_until();
  for (const BootTime until = now + seconds(120); now < until; now += milliseconds(500))
    if (first.lease.next(now)) first.lease.answered({.failure = Failure::unavailable}, now);
  EXPECT_EQ(first.lease.write_until(), end);
  EXPECT_EQ(first.lease.state(), State::held) << "no other agent has taken it";
  first.run(now);
  EXPECT_EQ(first.lease.write_until(), now + seconds(10));
}

TEST_F(AgentLeaseTest, AServerThatRefusesEachWriteIsAskedOnceASecond) {
  first.run(now);
  int calls = 0;
  for (const BootTime until = now + seconds(65); now < until; now += milliseconds(10))
    while (const auto call = first.lease.next(now)) {
      ++calls;
      first.lease.answered(std::holds_alternative<WriteLease>(*call)
                               ? LeaseAnswer{.failure = Failure::conflict}
                               : LeaseAnswer{.record = server.object},
                           now);
    }
  EXPECT_LT(calls, 150);
}

// --- agents that are stopped, calls that are late or lost, clocks that differ ---------------------

// The world of some agents, in true time. A call takes effect at the server at one time and is answered at a later one, or is given up
// after its time-out, by the clock of its agent; it may take effect or not then. Agents make steps only while they are not stopped.
class World {
 public:
  World(std::uint64_t seed, int agents) : random_(seed) {
    for (int i = 0; i < agents; ++i) agents_.push_back(make("agent" + std::to_string(i)));
  }

  void run(BootTime until) {
    for (; now_ < until; now_ += milliseconds(50)) {
      arrive();
      for (Process& agent : agents_) step(agent);
    }
  }

  int writes() const { return writes_; }
  int takeovers() const { return takeovers_; }
  const std::string& failure() const { return failure_; }

 private:
  struct Process {
    std::string name;
    AgentLease lease;
    Duration offset;
    double rate;
    BootTime stopped_until{};
    std::optional<LeaseAnswer> answer{};
    std::optional<BootTime> answer_at{};  // in true time
    BootTime writes_end{};                // of the last write that it sent
    int life = 0;
  };
  struct Sent {
    std::size_t agent;
    int life;
    LeaseCall call;
    BootTime arrives;
    Duration back;
    bool is_answer_lost;
  };

  Process make(const std::string& name) {
    return {name, AgentLease(name, times_), random_.between(Duration(seconds(0)), seconds(100'000)),
            0.95 + static_cast<double>(random_.below(100)) / 1000.0};
  }
  BootTime clock_of(const Process& agent) const {
    const auto since = static_cast<double>(now_.time_since_epoch().count());
    return BootTime(agent.offset + Duration(static_cast<std::int64_t>(since * agent.rate)));
  }

  // Calls that reach the server now.
  void arrive() {
    std::vector<Sent> later;
    for (Sent& sent : std::exchange(sent_, {})) {
      if (sent.arrives > now_) {
        later.push_back(std::move(sent));
        continue;
      }
      const std::string before = server_.object ? server_.object->holder : "";
      const LeaseAnswer answer = server_.carry_out(sent.call);
      if (server_.object && server_.object->holder != before) ++takeovers_;
      Process& agent = agents_[sent.agent];
      if (agent.life != sent.life || sent.is_answer_lost) continue;
      agent.answer = answer;
      agent.answer_at = std::min(agent.answer_at.value_or(now_ + sent.back), now_ + sent.back);
    }
    for (Sent& sent : later) sent_.push_back(std::move(sent));
  }

  void step(Process& agent) {
    const std::size_t index = static_cast<std::size_t>(&agent - agents_.data());
    if (now_ < agent.stopped_until) return;
    if (random_.per_mille(2))
      agent.stopped_until = now_ + random_.between(Duration(milliseconds(100)), seconds(40));
    if (random_.per_mille(1)) {
      // It is ended, and started again as another one. Its calls are on their way still.
      const int life = agent.life + 1;
      const BootTime end = agent.writes_end;
      agent = make("agent" + std::to_string(index) + "." + std::to_string(life));
      agent.life = life;
      ended_end_ = std::max(ended_end_, end);
    }
    const BootTime local = clock_of(agent);
    if (agent.answer_at && *agent.answer_at <= now_) {
      agent.answer_at.reset();
      agent.lease.answered(*std::exchange(agent.answer, std::nullopt), local);
    }
    if (const auto call = agent.lease.next(local)) send(index, *call);
    write(agent, local);
  }

  void send(std::size_t index, const LeaseCall& call) {
    Process& agent = agents_[index];
    const bool is_slow = random_.percent(10);
    const bool is_request_lost = random_.percent(4);
    const Duration there =
        random_.between(Duration(0), is_slow ? Duration(seconds(4)) : Duration(milliseconds(60)));
    const Duration back =
        random_.between(Duration(0), is_slow ? Duration(seconds(2)) : Duration(milliseconds(60)));
    const bool is_answer_lost = random_.percent(4) || there + back >= seconds(5);
    if (!is_request_lost)
      sent_.push_back({index, agent.life, call, now_ + there, back, is_answer_lost});
    if (is_request_lost || is_answer_lost) {
      agent.answer = LeaseAnswer{.failure = Failure::unavailable};
      agent.answer_at = now_ + Duration(static_cast<std::int64_t>(5e6 / agent.rate));
    }
  }

  // As the client does it: a write has the time that is left, at most five seconds, and may take effect until its end.
  void write(Process& agent, BootTime local) {
    if (!random_.percent(30)) return;
    const Duration left = agent.lease.write_until() - local;
    if (left < seconds(1)) return;
    ++writes_;
    const Duration timeout = std::min<Duration>(left, seconds(5));
    const BootTime end =
        now_ +
        Duration(static_cast<std::int64_t>(static_cast<double>(timeout.count()) / agent.rate));
    for (const Process& other : agents_)
      if (&other != &agent && other.writes_end > now_ && failure_.empty())
        failure_ = agent.name + " writes while " + other.name + " may";
    // What a process has sent before it was ended.
    if (ended_end_ > now_ && agent.life > 0 && failure_.empty()) {
      failure_ = agent.name + " writes while calls of a process that was ended may arrive";
    }
    agent.writes_end = std::max(agent.writes_end, end);
  }

  Random random_;
  LeaseTimes times_{};
  Server server_;
  BootTime now_{seconds(1)};
  std::vector<Process> agents_;
  std::vector<Sent> sent_;
  BootTime ended_end_{};
  int writes_ = 0, takeovers_ = 0;
  std::string failure_;
};

TEST(AgentLeases, NoTwoAgentsMayEverWriteAtTheSameTime) {
  int writes = 0, takeovers = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    World world(seed, 3);
    world.run(BootTime(seconds(600)));
    ASSERT_EQ(world.failure(), "") << "seed " << seed;
    writes += world.writes();
    takeovers += world.takeovers();
  }
  EXPECT_GT(writes, 100'000);
  EXPECT_GT(takeovers, 1000);
}

}  // namespace
}  // namespace ares::kubernetes
