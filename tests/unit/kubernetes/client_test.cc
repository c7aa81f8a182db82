// Tests: feature_discovery, access_check, access_review
#include "exec/kubernetes/api/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/kubernetes/api/access_check.h"
#include "exec/kubernetes/api/feature_discovery.h"
#include "exec/kubernetes/api/object_watch.h"
#include "unit/kubernetes/fake_engine.h"

namespace ares::kubernetes {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

HttpAnswer answer(long status, const std::string& body = "{}") {
  HttpAnswer made;
  made.status = status;
  made.body = body;
  return made;
}

class ClientTest : public testing::Test {
 protected:
  void make(FakeEngine::Answer reply, ClientSettings settings = {}) {
    auto credentials =
        Credentials::open({[this]() -> Result<ServerAccess> { return access; },
                           [this](const std::string&) -> Result<std::string> { return token_file; },
                           [] { return Time{}; }, [this] { return now; }});
    client = std::make_unique<ApiClient>(
        settings, ClientParts{std::make_unique<FakeEngine>(std::move(reply), sent),
                              std::move(*credentials), [this] { return now; }, 1});
  }
  // Lets time pass from deadline to deadline until nothing is in flight, or for that many rounds.
  void run(int rounds = 100) {
    for (; client->in_flight() > 0 && rounds > 0; --rounds) {
      if (const auto next = client->next_deadline(); next && *next > now) now = *next;
      client->dispatch();
    }
  }
  std::optional<ApiResult> call(ApiRequest request) {
    std::optional<ApiResult> result;
    client->call(std::move(request), [&](ApiResult got) { result = std::move(got); });
    run();
    return result;
  }

  ServerAccess access{.server = "https://kube:6443"};
  std::string token_file = "from-file";
  BootTime now{seconds(1000)};
  std::vector<HttpRequest> sent;
  std::unique_ptr<ApiClient> client;
};

TEST_F(ClientTest, CallsBecomeRequests) {
  access.token = Token{"secret"};
  access.tls_server_name = "inner";
  make([](const HttpRequest&) { return answer(201, "made"); });
  ApiRequest request{.call = Call::create_pod};
  request.target.space = "jobs";
  request.body = "{\"kind\":\"Pod\"}";
  request.query = {{"fieldManager", "ares/1 &"}};
  const auto result = call(request);
  ASSERT_TRUE(result && *result);
  EXPECT_EQ((*result)->body, "made");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].method, "POST");
  EXPECT_EQ(sent[0].url,
            "https://kube:6443/api/v1/namespaces/jobs/pods?fieldManager=ares%2F1%20%26");
  EXPECT_THAT(sent[0].headers, testing::IsSupersetOf({"Authorization: Bearer secret",
                                                      "Content-Type: application/json"}));
  EXPECT_EQ(sent[0].tls_server_name, "inner");
}

TEST_F(ClientTest, FieldsAreCheckedStrictlyWhereTheServerCan) {
  make([](const HttpRequest&) { return answer(200); });
  client->set_strict_fields(true);
  client->set_version("coordination.k8s.io", "v1beta1");
  (void)call({.call = Call::create_lease, .target = {.space = "jobs"}});
  (void)call({.call = Call::bind_pod, .target = {"jobs", "p"}});
  (void)call({.call = Call::get_node, .target = {.name = "n"}});
  EXPECT_THAT(sent[0].url,
              testing::EndsWith(
                  "/coordination.k8s.io/v1beta1/namespaces/jobs/leases?fieldValidation=Strict"));
  EXPECT_THAT(sent[1].url, testing::EndsWith("/binding?fieldValidation=Strict"));
  EXPECT_THAT(sent[2].url, testing::EndsWith("/nodes/n"));
}

TEST_F(ClientTest, FailuresThatPassAreTriedAgain) {
  int tries = 0;
  make([&](const HttpRequest&) { return ++tries < 4 ? answer(503) : answer(200, "ok"); });
  const auto result = call({.call = Call::list_nodes});
  ASSERT_TRUE(result && *result);
  EXPECT_EQ(tries, 4);
  EXPECT_GT(now, BootTime{seconds(1000)});
}

TEST_F(ClientTest, FinalFailuresNameTheCallAndTheObject) {
  make([](const HttpRequest&) {
    return answer(
        409,
        R"({"kind":"Status","reason":"AlreadyExists","message":"secrets \"s\" already exists"})");
  });
  const auto result = call({.call = Call::create_secret, .target = {.space = "jobs"}});
  ASSERT_TRUE(result && !*result);
  EXPECT_EQ(result->error().failure, Failure::already_exists);
  EXPECT_EQ(
      result->error().error.message,
      "cannot create secrets in namespace jobs at https://kube:6443: secrets \"s\" already exists");
  EXPECT_EQ(sent.size(), 1u);
  const auto refused = call({.call = Call::get_pod, .target = {"jobs", "A"}});
  EXPECT_EQ(refused->error().failure, Failure::invalid);
  EXPECT_EQ(sent.size(), 1u) << "nothing is sent for an object that cannot exist";
}

TEST_F(ClientTest, RefusedTokenIsReadAgainOnce) {
  access.token = TokenFile{"/token"};
  make([&](const HttpRequest& request) {
    for (const std::string& header : request.headers)
      if (header == "Authorization: Bearer renewed") return answer(200);
    token_file = "renewed";
    return answer(401);
  });
  EXPECT_TRUE(call({.call = Call::list_nodes}).value());
  EXPECT_EQ(sent.size(), 2u);
}

TEST_F(ClientTest, ReplacedAuthorityIsReadAgain) {
  access.ca_pem = "old";
  make([&](const HttpRequest& request) {
    if (request.ca_pem == "new") return answer(200);
    access.ca_pem = "new";
    HttpAnswer untrusted;
    untrusted.error = "unable to get local issuer certificate";
    untrusted.is_final = untrusted.is_untrusted = true;
    return untrusted;
  });
  EXPECT_TRUE(call({.call = Call::list_nodes}).value());
  EXPECT_EQ(sent.size(), 2u);
}

TEST_F(ClientTest, ServerWithoutATrustedCertificateIsAnError) {
  make([&](const HttpRequest&) {
    HttpAnswer untrusted;
    untrusted.error = "self-signed certificate";
    untrusted.is_final = untrusted.is_untrusted = true;
    return untrusted;
  });
  const auto result = call({.call = Call::list_nodes});
  EXPECT_EQ(result->error().failure, Failure::unusable);
  EXPECT_EQ(sent.size(), 1u);
}

TEST_F(ClientTest, TokenThatStaysRefusedIsAnError) {
  make([](const HttpRequest&) {
    return answer(401, R"({"kind":"Status","message":"Unauthorized"})");
  });
  const auto result = call({.call = Call::list_nodes});
  ASSERT_FALSE(result.value());
  EXPECT_EQ(sent.size(), 2u);
  EXPECT_EQ(result->error().failure, Failure::unauthenticated);
  EXPECT_THAT(
      result->error().error.message,
      HasSubstr("Unauthorized; the token or the client certificate is wrong or has expired"));
}

TEST_F(ClientTest, RateLimitDelaysAllButUrgentCalls) {
  make([](const HttpRequest&) { return std::nullopt; }, {.rate = {.per_second = 1, .burst = 2}});
  for (int i = 0; i < 4; ++i) client->call({.call = Call::list_nodes}, [](ApiResult) {});
  client->dispatch();
  EXPECT_EQ(sent.size(), 2u);
  ApiRequest urgent{.call = Call::update_lease, .target = {"ares", "agent"}};
  urgent.turn = Turn::urgent;
  client->call(urgent, [](ApiResult) {});
  client->dispatch();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[2].method, "PUT");
  now += seconds(60);
  client->dispatch();
  EXPECT_EQ(sent.size(), 5u);
}

TEST_F(ClientTest, NoMoreCallsThanTheLimitAreInFlight) {
  bool is_answering = false;
  make([&](const HttpRequest&) { return is_answering ? std::optional(answer(200)) : std::nullopt; },
       {.most_in_flight = 2});
  int done = 0;
  std::vector<ApiClient::Id> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(client->call({.call = Call::list_nodes}, [&](ApiResult) { ++done; }));
  client->dispatch();
  EXPECT_EQ(sent.size(), 2u);
  // Another one is sent when one has been cancelled, and an urgent one at once.
  client->cancel(ids[0]);
  client->dispatch();
  EXPECT_EQ(sent.size(), 3u);
  client->call({.call = Call::update_lease, .target = {"ares", "agent"}, .turn = Turn::urgent},
               [&](ApiResult) { ++done; });
  client->dispatch();
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(sent[3].method, "PUT");
  is_answering = true;
  run();
  EXPECT_EQ(sent.size(), 6u);
  EXPECT_EQ(done, 5);
}

TEST_F(ClientTest, RemovalsAreSentAfterWhatHasBegun) {
  make([](const HttpRequest&) { return answer(200); }, {.most_in_flight = 1});
  for (const char* name : {"first", "second"})
    client->call(
        {.call = Call::delete_pod, .target = {"jobs", name}, .turn = Turn::removal},
        [&](ApiResult) {
          if (sent.size() == 1)
            client->call({.call = Call::get_pod, .target = {"jobs", "next"}}, [](ApiResult) {});
        });
  run();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_THAT(sent[0].url, HasSubstr("/first"));
  EXPECT_THAT(sent[1].url, HasSubstr("/next"));
  EXPECT_THAT(sent[2].url, HasSubstr("/second"));
}

TEST_F(ClientTest, ARemovalThatIsTriedAgainGoesBeforeOthers) {
  bool has_failed = false;
  make([&](const HttpRequest&) { return answer(std::exchange(has_failed, true) ? 200 : 503); },
       {.rate = {.per_second = 1, .burst = 1}});
  constexpr std::size_t kCalls = 100;
  for (std::size_t i = 0; i < kCalls; ++i)
    client->call({.call = Call::delete_pod,
                  .target = {"jobs", "pod-" + std::to_string(i)},
                  .turn = Turn::removal},
                 [](ApiResult) {});
  run(1000);
  ASSERT_EQ(sent.size(), kCalls + 1);
  const auto again = std::find_if(sent.begin() + 1, sent.end(), [&](const HttpRequest& request) {
    return request.url == sent.front().url;
  });
  EXPECT_LT(again - sent.begin(), 50) << "the others do not pass it";
}

TEST_F(ClientTest, TwoRemovalsForEachBeginning) {
  make([](const HttpRequest&) { return answer(200); }, {.most_in_flight = 1});
  for (int i = 0; i < 100; ++i)
    client->call({.call = Call::delete_pod, .target = {"jobs", "p"}, .turn = Turn::removal},
                 [](const ApiResult&) {});
  for (int i = 0; i < 3; ++i)
    client->call({.call = Call::create_pod, .target = {.space = "jobs"}, .turn = Turn::begin},
                 [](const ApiResult&) {});
  run(1000);
  std::string methods;
  for (const HttpRequest& request : sent) methods += request.method.front();
  EXPECT_EQ(methods, "PDDPDDP" + std::string(96, 'D'));
}

TEST_F(ClientTest, RemovalsWaitForTheLeaseOfTheAgent) {
  make([](const HttpRequest&) { return answer(200); });
  client->set_write_until(now);
  EXPECT_FALSE(client->can_write());
  int removed = 0, refused = 0;
  client->call({.call = Call::delete_pod, .target = {"jobs", "p"}, .turn = Turn::removal},
               [&](const ApiResult& result) { removed += result ? 1 : 0; });
  client->call({.call = Call::create_pod, .target = {.space = "jobs"}, .turn = Turn::begin},
               [&](const ApiResult& result) { refused += result ? 0 : 1; });
  run();
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(sent.empty());
  EXPECT_FALSE(client->next_deadline()) << "the owner would ask again and again";
  client->set_write_until(now + seconds(10));
  EXPECT_TRUE(client->can_write());
  run();
  EXPECT_EQ(removed, 1);
}

TEST_F(ClientTest, AWatchDoesNotWaitBehindWrites) {
  make([](const HttpRequest&) { return std::nullopt; },
       {.rate = {.per_second = 1, .burst = 1}, .most_in_flight = 1});
  for (int i = 0; i < 3; ++i)
    client->call({.call = Call::create_pod, .target = {.space = "jobs"}}, [](ApiResult) {});
  client->dispatch();
  const ObjectWatch watch(
      *client, {.list = Call::list_pods, .watch = Call::watch_pods}, {}, 1, [](const Change&) {},
      [this] { return now; });
  client->dispatch();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_THAT(sent[1].url, HasSubstr("/api/v1/pods?limit="));
}

TEST_F(ClientTest, CancelledCallsAreNotCalledBack) {
  make([](const HttpRequest&) { return answer(200); }, {.rate = {.per_second = 1, .burst = 1}});
  const auto first = client->call({.call = Call::list_nodes}, [](ApiResult) { ADD_FAILURE(); });
  const auto second = client->call({.call = Call::list_nodes}, [](ApiResult) { ADD_FAILURE(); });
  const auto refused = client->call({.call = Call::get_node}, [](ApiResult) { ADD_FAILURE(); });
  for (const auto id : {first, second, refused}) client->cancel(id);
  now += seconds(10);
  client->dispatch();
  EXPECT_EQ(client->in_flight(), 0u);
  EXPECT_TRUE(sent.empty());
}

TEST_F(ClientTest, WritesEndBeforeTheLeaseOfTheAgent) {
  make([](const HttpRequest&) { return answer(200); });
  client->set_write_until(now + seconds(4));
  EXPECT_TRUE(call({.call = Call::delete_pod, .target = {"jobs", "p"}}).value());
  EXPECT_EQ(sent.back().timeout, seconds(4)) << "of 30 s";
  now += std::chrono::milliseconds(3001);
  const auto refused = call({.call = Call::delete_pod, .target = {"jobs", "p"}});
  EXPECT_EQ(refused->error().failure, Failure::unavailable);
  EXPECT_THAT(refused->error().error.message, HasSubstr("the lease of this agent"));
  EXPECT_EQ(sent.size(), 1u);
  // What changes nothing, and what the lease itself needs.
  EXPECT_TRUE(call({.call = Call::get_pod, .target = {"jobs", "p"}}).value());
  EXPECT_TRUE(call({.call = Call::update_lease, .target = {"jobs", "l"}}).value());
  EXPECT_TRUE(call({.call = Call::create_access_review}).value());
  EXPECT_EQ(sent.back().timeout, seconds(30));
}

TEST_F(ClientTest, AWriteIsNotSentAgainAfterThatTime) {
  int tries = 0;
  make([&](const HttpRequest&) {
    ++tries;
    return answer(503);
  });
  client->set_write_until(now + seconds(2));
  const auto result = call({.call = Call::create_pod, .target = {.space = "jobs"}});
  EXPECT_EQ(result->error().failure, Failure::unavailable);
  EXPECT_GT(tries, 1);
  EXPECT_LT(tries, 5);
  EXPECT_LE(now, BootTime{seconds(1002)});
}

TEST_F(ClientTest, WritesThatWaitForTheirTurnAreRefusedToo) {
  make([](const HttpRequest&) { return std::nullopt; }, {.rate = {.per_second = 1, .burst = 1}});
  client->set_write_until(now + seconds(4));
  std::optional<ApiResult> second;
  client->call({.call = Call::create_pod, .target = {.space = "jobs"}}, [](ApiResult) {});
  client->call({.call = Call::create_pod, .target = {.space = "jobs"}},
               [&](ApiResult got) { second = std::move(got); });
  client->dispatch();
  EXPECT_TRUE(client->has_writes_in_flight());
  EXPECT_FALSE(second);
  client->set_write_until({});
  now += seconds(1);
  client->dispatch();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->error().failure, Failure::unavailable);
  EXPECT_EQ(sent.size(), 1u);
}

TEST_F(ClientTest, DiscoverySetsVersions) {
  make([](const HttpRequest& request) {
    const std::string path = request.url.substr(std::string("https://kube:6443").size());
    if (path == "/version")
      return answer(200, R"({"major":"1","minor":"30","gitVersion":"v1.30.0"})");
    if (path == "/api") return answer(200, R"({"versions":["v1"]})");
    if (path == "/apis") {
      std::string list;
      for (const char* group : {"coordination.k8s.io", "authorization.k8s.io", "events.k8s.io"})
        list += std::string(list.empty() ? "" : ",") + R"({"name":")" + group +
                R"(","versions":[{"version":"v1"}]})";
      return answer(200, "{\"groups\":[" + list + "]}");
    }
    std::string resources;
    for (const CallRow& row : call_table())
      if (path == (row.group.empty() ? "/api/v1" : "/apis/" + std::string(row.group) + "/v1"))
        resources += std::string(resources.empty() ? "" : ",") + R"({"name":")" +
                     std::string(row.resource) +
                     (row.subresource.empty() ? "" : "/" + std::string(row.subresource)) + "\"}";
    return answer(200, "{\"resources\":[" + resources + "]}");
  });
  std::optional<Result<ServerFeatures>> found;
  discover(*client, [&](Result<ServerFeatures> features) { found = std::move(features); });
  run();
  ASSERT_TRUE(found && *found) << (found ? found->error().message : "no answer");
  EXPECT_EQ((*found)->minor, 30u);
  (void)call({.call = Call::create_pod, .target = {.space = "jobs"}});
  EXPECT_THAT(sent.back().url, testing::EndsWith("pods?fieldValidation=Strict"));
}

TEST_F(ClientTest, DiscoveryFailsWithTheFirstAnswerThatCannotBeUsed) {
  make([](const HttpRequest&) { return answer(200, "<html>login</html>"); });
  std::optional<Result<ServerFeatures>> found;
  discover(*client, [&](Result<ServerFeatures> features) { found = std::move(features); });
  run();
  EXPECT_THAT(found.value().error().message,
              HasSubstr("/version is not that of a Kubernetes API server"));
}

TEST_F(ClientTest, MissingPermissionsAreNamedWithTheirReason) {
  make([](const HttpRequest& request) {
    const bool is_allowed = request.body.find("\"binding\"") == std::string::npos ||
                            request.body.find("\"b\"") == std::string::npos;
    return answer(201, std::string(R"({"kind":"SelfSubjectAccessReview","status":{"allowed":)") +
                           (is_allowed ? "true}}" : "false}}"));
  });
  std::optional<Result<std::vector<AccessQuestion>>> missing;
  check_access(*client, {.job_namespaces = {"a", "b"}, .own_namespace = "ares"},
               [&](const Result<std::vector<AccessQuestion>>& found) { missing = found; });
  run();
  ASSERT_TRUE(missing && *missing);
  const Status status = access_error(**missing);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::permission_denied);
  EXPECT_THAT(status.error().message,
              testing::EndsWith("to it:\n  create pods/binding in namespace b (ClusterRole "
                                "ares-agent-jobs), needed to place the pods of jobs on nodes"));
  EXPECT_TRUE(access_error({}));
}

TEST_F(ClientTest, AnswersToAccessReviewsThatSayNothingAreErrors) {
  make([](const HttpRequest&) { return answer(201, "{\"status\":{}}"); });
  int calls = 0;
  check_access(*client, {.job_namespaces = {"a"}},
               [&](const Result<std::vector<AccessQuestion>>& found) {
                 ++calls;
                 EXPECT_FALSE(found);
               });
  run();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace ares::kubernetes
