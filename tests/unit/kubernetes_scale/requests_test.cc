#include "kubernetes_scale/simulated/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kubernetes/fake_engine.h"

namespace ares::kubernetes_scale {
namespace {

using testing::ElementsAre;

class RequestsTest : public testing::Test {
 protected:
  Requests make(std::size_t most_at_once) {
    auto credentials = kubernetes::Credentials::open(
        {[]() -> Result<kubernetes::ServerAccess> {
           return kubernetes::ServerAccess{.server = "https://kube:6443"};
         },
         [](const std::string&) -> Result<std::string> { return ""; }, [] { return Time{}; },
         [] { return BootTime{}; }});
    return {std::make_unique<kubernetes::FakeEngine>(
                [this](const kubernetes::HttpRequest&) {
                  kubernetes::HttpAnswer answer;
                  answer.status = next_status;
                  return next_status < 0 ? std::nullopt : std::optional(answer);
                },
                sent),
            std::move(*credentials), most_at_once};
  }
  RequestDone note() {
    return [this](long status) { statuses.push_back(status); };
  }

  long next_status = 200;
  std::vector<kubernetes::HttpRequest> sent;
  std::vector<long> statuses;
  BootTime now{std::chrono::seconds(1)};
};

TEST_F(RequestsTest, NoMoreThanTheGivenNumberAreUnderWay) {
  next_status = -1;  // no answer yet
  Requests requests = make(2);
  for (int i = 0; i < 3; ++i) requests.send({"POST", "/p"}, note());
  requests.dispatch(now);
  EXPECT_EQ(sent.size(), 2u);
  EXPECT_EQ(requests.waiting(), 3u);
  next_status = 201;
  requests.dispatch(now);
  requests.dispatch(now);
  EXPECT_THAT(statuses, ElementsAre(201, 201, 201));
  EXPECT_EQ(sent.front().url, "https://kube:6443/p");
}

TEST_F(RequestsTest, AnOverloadedServerIsAskedAgain) {
  next_status = 429;
  Requests requests = make(1);
  requests.send({"PATCH", "/p", "{}", kMergePatch}, note());
  requests.dispatch(now);
  EXPECT_TRUE(statuses.empty());
  EXPECT_EQ(requests.retries(), 1u);
  next_status = 200;
  requests.dispatch(now);  // too early
  EXPECT_TRUE(statuses.empty());
  ASSERT_TRUE(requests.next_deadline());
  requests.dispatch(now + std::chrono::seconds(1));
  EXPECT_THAT(statuses, ElementsAre(200));
}

TEST_F(RequestsTest, ARefusalIsFinal) {
  next_status = 404;
  Requests requests = make(1);
  requests.send({"DELETE", "/p"}, note());
  requests.dispatch(now);
  EXPECT_THAT(statuses, ElementsAre(404));
}

}  // namespace
}  // namespace ares::kubernetes_scale
