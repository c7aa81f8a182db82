// Tests: lease_holder, lease_object, agent/wait
#include "exec/kubernetes/agent/lease/lease_holder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/wait.h"
#include "exec/kubernetes/api/json.h"
#include "unit/kubernetes/fake_engine.h"

namespace ares::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

// The Lease of an API server, and all pods that were created there.
struct LeaseServer {
  std::optional<Json> object;
  int version = 0;
  int pods = 0;
  bool is_down = false;

  std::optional<HttpAnswer> answer(const HttpRequest& request) {
    if (is_down) return made(503, "{}");
    if (request.url.find("/leases") == std::string::npos) {
      ++pods;
      return made(201, "{}");
    }
    if (request.method == "GET") return object ? made(200, object->dump()) : made(404, "{}");
    const Json body = *parse_object(request.body, "the body");
    if (request.method == "PUT" && (!object || text_at(*object, {"metadata", "resourceVersion"}) !=
                                                   text_at(body, {"metadata", "resourceVersion"})))
      return made(409, R"({"reason":"Conflict"})");
    if (request.method == "POST" && object) return made(409, R"({"reason":"AlreadyExists"})");
    object = body;
    (*object)["metadata"]["resourceVersion"] = std::to_string(++version);
    return made(200, object->dump());
  }
  static HttpAnswer made(long status, std::string body) {
    HttpAnswer answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
  }
};

// An agent with a client of its own.
struct HolderOfTest {
  BootTime& now;
  std::vector<HttpRequest> sent;
  std::vector<std::string> said;
  std::unique_ptr<ApiClient> client;
  std::unique_ptr<LeaseHolder> holder;

  HolderOfTest(LeaseServer& server, BootTime& clock, std::int64_t pid, const std::string& boot)
      : now(clock) {
    auto credentials = Credentials::open(
        {[]() -> Result<ServerAccess> { return ServerAccess{.server = "https://kube:6443"}; },
         [](const std::string&) -> Result<std::string> { return ""; }, [] { return Time{}; },
         [this] { return now; }});
    client = std::make_unique<ApiClient>(
        ClientSettings{},
        ClientParts{
            std::make_unique<FakeEngine>(
                [&server](const HttpRequest& request) { return server.answer(request); }, sent),
            std::move(*credentials), [this] { return now; }, 1});
    holder = std::make_unique<LeaseHolder>(
        *client, LeaseParts{.place = lease_place("jobs", "kube"),
                            .self = {"n1", pid, 5, 6, boot},
                            .say = [this](const std::string& text) { said.push_back(text); },
                            .now = [this] { return now; }});
  }
  void run() {
    for (int i = 0; i < 10; ++i) {
      holder->dispatch();
      client->dispatch();
    }
  }
  // Whether a pod can be created now.
  bool writes() {
    std::optional<ApiResult> result;
    client->call({.call = Call::create_pod, .target = {.space = "jobs"}},
                 [&](ApiResult got) { result = std::move(got); });
    client->dispatch();
    client->dispatch();
    return result && *result;
  }
};

class LeaseHolderTest : public testing::Test {
 protected:
  void pass(Duration time, const std::vector<HolderOfTest*>& agents) {
    for (const BootTime until = now + time; now < until; now += milliseconds(500))
      for (HolderOfTest* agent : agents) agent->run();
  }

  LeaseServer server;
  BootTime now{seconds(1000)};
  HolderOfTest first{server, now, 1, "boot1"}, second{server, now, 2, "boot2"};
};

TEST_F(LeaseHolderTest, OnlyTheHolderWrites) {
  EXPECT_FALSE(first.writes()) << "before it has the lease";
  first.run();
  second.run();
  EXPECT_TRUE(first.holder->is_held());
  EXPECT_TRUE(first.writes());
  EXPECT_FALSE(second.writes());
  EXPECT_EQ(server.pods, 1);
  EXPECT_THAT(first.said, ElementsAre("this agent holds the lease ares-kube in namespace jobs"));
  EXPECT_THAT(second.said, ElementsAre("standing by: n1 (process 1) holds the lease ares-kube in "
                                       "namespace jobs"));
}

TEST_F(LeaseHolderTest, TheObjectIsAsKubectlShowsLeases) {
  first.run();
  const Json& spec = (*server.object)["spec"];
  EXPECT_EQ(text_at(*server.object, {"metadata", "name"}), "ares-kube");
  EXPECT_EQ(text_at(spec, {"holderIdentity"}), "n1_1_5_6_boot1");
  EXPECT_EQ(number_at(spec, {"leaseDurationSeconds"}), 15);
  EXPECT_EQ(number_at(spec, {"leaseTransitions"}), 0);
  const std::string acquired = text_at(spec, {"acquireTime"});
  EXPECT_EQ(acquired.size(), std::string("2026-01-02T03:04:05.000000Z").size());
  pass(seconds(6), {&first});
  EXPECT_EQ(server.version, 2);
  EXPECT_EQ(text_at(*server.object, {"spec", "acquireTime"}), acquired);
}

TEST_F(LeaseHolderTest, AHolderThatWasStoppedLearnsThatItHasLost) {
  pass(seconds(3), {&first, &second});
  pass(seconds(25), {&second});
  EXPECT_TRUE(second.holder->is_held());
  EXPECT_FALSE(first.writes());
  first.holder->dispatch();  // waits for the answer: others must not act before it is there
  EXPECT_EQ(first.holder->failure(),
            "another agent, n1 (process 2), has taken the lease ares-kube in namespace jobs: this "
            "one ends");
  EXPECT_FALSE(first.writes());
  EXPECT_TRUE(second.writes());
}

TEST_F(LeaseHolderTest, AReleasedLeaseIsTakenAtOnce) {
  pass(seconds(3), {&first, &second});
  first.holder->release();
  EXPECT_FALSE(first.holder->is_held());
  EXPECT_FALSE(first.writes());
  EXPECT_EQ(text_at(*server.object, {"spec", "holderIdentity"}), "");
  pass(seconds(2), {&second});
  EXPECT_TRUE(second.holder->is_held());
  EXPECT_EQ(number_at(*server.object, {"spec", "leaseTransitions"}), 1);
}

TEST_F(LeaseHolderTest, TheLeaseOfADeadProcessOfThisMachineIsTakenAtOnce) {
  first.run();  // process 1 of this machine began at another time than it says
  HolderOfTest third{server, now, 3, "boot1"};
  third.run();
  EXPECT_TRUE(third.holder->is_held());
  EXPECT_THAT(third.said, ElementsAre(HasSubstr("this agent holds the lease")));
}

TEST_F(LeaseHolderTest, AServerThatIsAwayStopsWritesUntilItIsBack) {
  pass(seconds(3), {&first, &second});
  server.is_down = true;
  pass(seconds(60), {&first, &second});
  server.is_down = false;
  EXPECT_FALSE(first.writes());
  // The lease has not changed for long, so either may renew it now, and one does.
  pass(seconds(3), {&first});
  EXPECT_TRUE(first.writes());
  EXPECT_THAT(first.said, testing::Contains(HasSubstr("cannot update leases.coordination.k8s.io")));
  EXPECT_LT(first.said.size(), 4u) << "each problem is told once";
}

TEST_F(LeaseHolderTest, AWaitEndsWithTheProcess) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  const Status status = run_until(
      {.client = *first.client, .stop_fd = ends[0], .most = std::nullopt}, [] { return false; },
      "anything");
  EXPECT_EQ(status.error().code, ErrorCode::failed_precondition);
  for (const int end : ends) ::close(end);
}

TEST(LeaseObjects, OthersMayHaveWrittenAnything) {
  EXPECT_FALSE(read_lease("[]"));
  EXPECT_FALSE(read_lease(R"({"metadata":{}})"));
  const auto odd = read_lease(
      R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":5,"leaseDurationSeconds":99999999999,"leaseTransitions":-3}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->holder, "");
  EXPECT_EQ(odd->duration, seconds(3600));
  EXPECT_EQ(odd->transitions, 0u);
}

}  // namespace
}  // namespace ares::kubernetes
