// Tests: output/output_follower
#include "exec/kubernetes/agent/output/output_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/kubernetes/fake_engine.h"

namespace ares::kubernetes {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The logs of pods, and a controller that stores what it is told.
class FollowerTest : public testing::Test {
 protected:
  FollowerTest() {
    auto credentials = Credentials::open(
        {[]() -> Result<ServerAccess> { return ServerAccess{.server = "https://kube:6443"}; },
         [](const std::string&) -> Result<std::string> { return ""; }, [] { return Time{}; },
         [this] { return now; }});
    client = std::make_unique<ApiClient>(
        ClientSettings{}, ClientParts{std::make_unique<FakeEngine>(
                                          [this](const HttpRequest& r) { return answer(r); }, sent),
                                      std::move(*credentials), [this] { return now; }, 1});
    follower = std::make_unique<OutputFollower>(
        *client,
        OutputHooks{.output =
                        [this](const std::string& pod, const PodOutput::Part& part) {
                          std::string& all = stored[pod];
                          EXPECT_LE(part.offset, all.size());
                          if (part.offset + part.data.size() > all.size())
                            all += part.data.substr(all.size() - part.offset);
                          told.emplace_back(pod, part.ended);
                        },
                    .annotate = [this](const std::string& pod,
                                       const OutputState& state) { states[pod] = state; },
                    .complete = [this](const std::string& pod) { complete.push_back(pod); },
                    .say = [this](const std::string& text) { said.push_back(text); },
                    .now = [this] { return now; }});
  }

  static std::string pod_of(const HttpRequest& request) {
    const std::size_t begin = request.url.find("/pods/") + 6;
    return request.url.substr(begin, request.url.find("/log") - begin);
  }
  std::optional<HttpAnswer> answer(const HttpRequest& request) {
    const std::string pod = pod_of(request);
    HttpAnswer given;
    if (is_down) {
      given.status = 500;
      return given;
    }
    given.status = 200;
    given.body = log[pod];
    return given;
  }
  std::size_t connections(const std::string& pod) const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [&](const HttpRequest& r) { return pod_of(r) == pod; }));
  }
  void print(const std::string& pod, std::string_view text) {
    if (log[pod].empty()) append_mark(log[pod], 0, Time(100s));
    append_output(log[pod], text);
  }
  // Lets time pass until nothing more is to be done by then.
  void run(Duration time) {
    const BootTime until = now + time;
    for (;;) {
      for (int i = 0; i < 4; ++i) {
        client->dispatch();
        follower->dispatch();
        for (const auto& [pod, is_end] : std::exchange(told, {}))
          if (is_storing) follower->stored(pod, stored[pod].size(), is_end);
      }
      const auto next = follower->next_deadline();
      if (now >= until) return;
      now = std::min(until, std::max(now + Duration(1ms), next.value_or(until)));
    }
  }

  BootTime now{1000s};
  std::vector<HttpRequest> sent;
  std::map<std::string, std::string> log, stored;
  std::map<std::string, OutputState> states;
  std::vector<std::pair<std::string, bool>> told;
  std::vector<std::string> complete, said;
  bool is_down = false, is_storing = true;
  std::unique_ptr<ApiClient> client;
  std::unique_ptr<OutputFollower> follower;
};

TEST_F(FollowerTest, NothingIsReadUntilTheControllerTakesIt) {
  follower->follow("p", "jobs", {});
  run(10s);
  EXPECT_TRUE(sent.empty());
  EXPECT_FALSE(follower->is_complete("p")) << "the controller has not said anything yet";
  follower->take(false);
  run(1s);
  EXPECT_TRUE(follower->is_complete("p"));
  EXPECT_THAT(complete, testing::Contains("p"));
  EXPECT_TRUE(sent.empty());
}

TEST_F(FollowerTest, WhatIsPrintedIsStoredAndTheEndToldOnce) {
  follower->take(true);
  follower->follow("p", "jobs", {});
  print("p", "first\n");
  run(1s);
  EXPECT_EQ(stored["p"], "first\n");
  EXPECT_THAT(sent[0].url, HasSubstr("/namespaces/jobs/pods/p/log?container=main"));
  EXPECT_THAT(sent[0].url, Not(HasSubstr("sinceTime")));
  EXPECT_THAT(sent[0].url, Not(HasSubstr("follow"))) << "kubelets lose bytes at a rotation";
  print("p", "second\n");
  append_end_mark(log["p"], 13);
  run(1s);
  EXPECT_EQ(stored["p"], "first\nsecond\n");
  EXPECT_FALSE(complete.empty());
  EXPECT_TRUE(follower->is_complete("p"));
  const std::size_t done = connections("p");
  run(60s);
  EXPECT_EQ(connections("p"), done) << "nothing more is asked for";
}

TEST_F(FollowerTest, APodThatIsSilentIsAskedLessAndLessOften) {
  follower->take(true);
  follower->follow("p", "jobs", {});
  print("p", "first\n");
  run(3s);
  EXPECT_GE(connections("p"), 2U);
  EXPECT_THAT(sent[1].url, HasSubstr("sinceTime=1970-01-01T00%3A01%3A39"));
  run(600s);
  EXPECT_LT(connections("p"), 50U);
  EXPECT_EQ(stored["p"], "first\n");
}

TEST_F(FollowerTest, AnApiThatFailsIsAskedAgainAndForAPodThatHasEndedGivenUp) {
  follower->take(true);
  follower->follow("p", "jobs", {});
  is_down = true;
  run(100s);
  EXPECT_GT(connections("p"), 50U);
  EXPECT_FALSE(follower->is_complete("p"));
  follower->pod_ended("p", false);
  run(70s);
  EXPECT_TRUE(follower->is_complete("p"));
}

TEST_F(FollowerTest, TheLogOfADeletedPodIsFollowedAtOnce) {
  follower->take(true);
  follower->follow("p", "jobs", {});
  run(100s);
  const std::size_t before = connections("p");
  follower->pod_is_going("p");
  print("p", "last words\n");
  run(1ms);
  ASSERT_GT(connections("p"), before);
  EXPECT_THAT(sent[before].url, HasSubstr("follow=true"));
  EXPECT_EQ(stored["p"], "");
  run(1s);
  EXPECT_EQ(stored["p"], "last words\n");
}

TEST_F(FollowerTest, APodThatIsGoneIsOver) {
  follower->take(true);
  follower->follow("p", "jobs", {});
  print("p", "first\n");
  run(1s);
  follower->pod_gone("p");
  run(1s);
  EXPECT_TRUE(follower->is_complete("p"));
  EXPECT_EQ(stored["p"], "first\n");
}

TEST_F(FollowerTest, AllPodsGetTheirTurn) {
  follower->take(true);
  const std::size_t count = OutputFollower::kMostConnections + 20;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string pod = "p" + std::to_string(i);
    print(pod, pod + "\n");
    follower->follow(pod, "jobs", {});
  }
  for (int i = 0; i < 3; ++i) {
    follower->dispatch();
    EXPECT_LE(client->in_flight(), OutputFollower::kMostConnections);
    run(1s);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string pod = "p" + std::to_string(i);
    EXPECT_EQ(stored[pod], pod + "\n");
  }
}

TEST_F(FollowerTest, WithoutAnAnswerNothingIsComplete) {
  is_storing = false;
  follower->take(true);
  follower->follow("p", "jobs", {});
  follower->pod_ended("p", true);
  run(100s);
  EXPECT_FALSE(follower->is_complete("p"));
  is_storing = true;
  print("p", "x");
  append_end_mark(log["p"], 1);
  run(20s);
  EXPECT_TRUE(follower->is_complete("p"));
  follower->forget("p");
  EXPECT_EQ(client->in_flight(), 0U);
}

}  // namespace
}  // namespace ares::kubernetes
