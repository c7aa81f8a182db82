#include "exec/kubernetes/api/object_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>

#include "os/clock.h"
#include "unit/kubernetes/http_server.h"

namespace ares::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::string object(const std::string& name, int version) {
  return R"({"metadata":{"name":")" + name + R"(","uid":"u-)" + name + R"(","resourceVersion":")" +
         std::to_string(version) + "\"}}";
}

std::string event(const std::string& type, const std::string& what) {
  return R"({"type":")" + type + R"(","object":)" + what + "}\n";
}

class ObjectWatchTest : public testing::Test {
 protected:
  void start(const HttpServer& server, WatchSettings settings = {}) {
    ServerAccess access;
    access.server = server.url();
    auto credentials = Credentials::open(
        {[access]() -> Result<ServerAccess> { return access; },
         [](const std::string&) -> Result<std::string> { return fail(ErrorCode::not_found, ""); },
         [] { return os::wall_now(); }, [] { return os::boot_now(); }});
    client = std::make_unique<ApiClient>(
        ClientSettings{}, ClientParts{HttpEngine::open({}).value(), std::move(*credentials),
                                      [] { return os::boot_now(); }, 1});
    settings.reflector.back_off.first = milliseconds(10);
    watch = std::make_unique<ObjectWatch>(
        *client,
        WatchScope{.list = Call::list_nodes, .watch = Call::watch_nodes, .label_selector = "a=b,c"},
        settings, 1,
        [this](const Change& change) {
          const char* const kinds[] = {"+", "~", "-"};
          seen.push_back(kinds[static_cast<int>(change.kind)] + change.name);
        },
        [] { return os::boot_now(); });
  }
  bool run_until(const std::function<bool()>& condition) {
    const BootTime end = os::boot_now() + seconds(60);
    while (!condition()) {
      if (os::boot_now() > end) return false;
      pollfd ready{client->event_fd(), POLLIN, 0};
      auto deadline = os::boot_now() + milliseconds(100);
      for (const auto& other : {client->next_deadline(), watch->next_deadline()})
        if (other) deadline = std::min(deadline, *other);
      const auto wait = std::chrono::ceil<milliseconds>(deadline - os::boot_now()).count();
      (void)::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(wait, 0)));
      client->dispatch();
      watch->dispatch();
    }
    return true;
  }

  std::vector<std::string> seen;
  std::unique_ptr<ApiClient> client;
  std::unique_ptr<ObjectWatch> watch;
};

TEST_F(ObjectWatchTest, FollowsAServerThroughCutsAndExpiredVersions) {
  std::atomic<int> watches = 0;
  HttpServer server([&](const ReceivedRequest& request, Connection& connection) {
    const bool is_watch = request.path.find("watch=true") != std::string::npos;
    if (!is_watch && request.path.find("continue=t1") != std::string::npos)
      return connection.answer(
          200, R"({"metadata":{"resourceVersion":"10"},"items":[)" + object("b", 2) + "]}");
    if (!is_watch && watches == 0)
      return connection.answer(200,
                               R"({"metadata":{"resourceVersion":"10","continue":"t1"},"items":[)" +
                                   object("a", 1) + "]}");
    if (!is_watch)
      return connection.answer(
          200, R"({"metadata":{"resourceVersion":"30"},"items":[)" + object("c", 11) + "]}");
    const int number = ++watches;
    if (number == 2) return connection.answer(500, "{}");
    connection.begin_chunks();
    if (number == 1) {
      const std::string line = event("ADDED", object("c", 11));
      connection.chunk(line.substr(0, 25));
      connection.chunk(line.substr(25) + event("DELETED", object("a", 12)).substr(0, 9));
      return connection.close();  // in the middle of a line
    }
    if (number == 3) {
      connection.chunk(event("DELETED", object("a", 12)));
      connection.chunk(R"({"type":"ERROR","object":{"code":410,"message":"too old"}})"
                       "\n");
    } else {
      connection.chunk(event("MODIFIED", object("c", 31)));
    }
    connection.is_closed_within(60'000);
    connection.close();
  });
  start(server);
  EXPECT_TRUE(run_until([&] { return seen.size() >= 6; }));
  EXPECT_THAT(seen, ElementsAre("+a", "+b", "+c", "-a", "-b", "~c"));
  EXPECT_TRUE(watch->is_synced());
  EXPECT_EQ(watch->problem(), "");
  std::vector<std::string> versions;
  for (const ReceivedRequest& request : server.received()) {
    EXPECT_THAT(request.path, HasSubstr("labelSelector=a%3Db%2Cc"));
    const std::size_t at = request.path.find("resourceVersion=");
    if (at != std::string::npos) versions.push_back(request.path.substr(at + 16, 2));
  }
  EXPECT_THAT(versions, ElementsAre("10", "11", "11", "30"));
  watch.reset();
}

TEST_F(ObjectWatchTest, SilentWatchGoesOnFromItsVersion) {
  std::atomic<int> watches = 0;
  HttpServer server([&](const ReceivedRequest& request, Connection& connection) {
    if (request.path.find("watch=true") == std::string::npos)
      return connection.answer(200, R"({"metadata":{"resourceVersion":"10"},"items":[]})");
    ++watches;
    connection.begin_chunks();
    if (watches > 1) connection.chunk(event("ADDED", object("a", 20)));
    connection.is_closed_within(60'000);
    connection.close();
  });
  WatchSettings settings;
  settings.idle_timeout = Seconds(1);
  start(server, settings);
  EXPECT_TRUE(run_until([&] { return !seen.empty(); }));
  EXPECT_THAT(seen, ElementsAre("+a"));
  EXPECT_EQ(server.received().size(), 3u) << "one list and two watches";
  watch.reset();
}

TEST_F(ObjectWatchTest, ProblemIsSaidWhileTheListFails) {
  std::atomic<bool> is_well = false;
  HttpServer server([&](const ReceivedRequest&, Connection& connection) {
    if (is_well)
      return connection.answer(200, R"({"metadata":{"resourceVersion":"10"},"items":[]})");
    connection.answer(403, R"({"kind":"Status","message":"nodes is forbidden"})");
  });
  start(server);
  EXPECT_TRUE(run_until([&] { return !watch->problem().empty(); }));
  EXPECT_THAT(watch->problem(), HasSubstr("cannot list nodes"));
  EXPECT_THAT(watch->problem(), HasSubstr("nodes is forbidden; bind the ClusterRoles"));
  EXPECT_FALSE(watch->is_synced());
  is_well = true;
  EXPECT_TRUE(run_until([&] { return watch->is_synced(); }));
  watch.reset();
}

TEST_F(ObjectWatchTest, ListWaitsAsLongAsTheServerAsks) {
  HttpServer server([&](const ReceivedRequest&, Connection& connection) {
    connection.answer(429, "", "Retry-After: 20\r\n");
  });
  start(server);
  EXPECT_TRUE(run_until([&] { return !watch->problem().empty(); }));
  ASSERT_TRUE(watch->next_deadline());
  EXPECT_GT(*watch->next_deadline(), os::boot_now() + Seconds(5)) << "its own first delay is short";
  watch.reset();
}

// Waits only for the descriptor and the deadline, as the agent does; a wait of 30 seconds means that one of them is wrong.
TEST(ClientEvents, DescriptorAndDeadlineTellWhenThereIsWork) {
  HttpServer server([](const ReceivedRequest& request, Connection& connection) {
    connection.is_closed_within(200);
    connection.answer(request.connection == 1 ? 503 : 200, "{}", "Connection: close\r\n");
    connection.close();
  });
  ServerAccess access;
  access.server = server.url();
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.command = "/bin/sh";
  plugin.arguments = {
      "-c",
      "sleep 0.2; echo "
      "'{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
      "\"status\":{\"token\":\"of-the-program\"}}'"};
  access.token = plugin;
  auto credentials = Credentials::open(
      {[access]() -> Result<ServerAccess> { return access; },
       [](const std::string&) -> Result<std::string> { return fail(ErrorCode::not_found, ""); },
       [] { return os::wall_now(); }, [] { return os::boot_now(); }});
  ApiClient client({}, {HttpEngine::open({}).value(), std::move(*credentials),
                        [] { return os::boot_now(); }, 1});
  std::optional<ApiResult> result;
  client.call({.call = Call::list_nodes}, [&](ApiResult got) { result = std::move(got); });
  for (int rounds = 0; !result; ++rounds) {
    ASSERT_LT(rounds, 500) << "it is called without having work";
    pollfd ready{client.event_fd(), POLLIN, 0};
    const auto deadline = client.next_deadline();
    const auto wait =
        deadline ? std::chrono::ceil<milliseconds>(*deadline - os::boot_now()).count() : 30'000;
    const int count =
        ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(wait, 0, 30'000)));
    ASSERT_TRUE(count > 0 || wait < 30'000) << "nothing said that there is work";
    client.dispatch();
  }
  ASSERT_TRUE(*result) << result->error().error.message;
  ASSERT_EQ(server.received().size(), 2u) << "one answer with 503, and another try";
  EXPECT_EQ(server.received().at(1).headers.at("authorization"), "Bearer of-the-program");
}

}  // namespace
}  // namespace ares::kubernetes
