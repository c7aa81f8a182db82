// Tests: kubernetes/api/http, curl_transfer
#include "exec/kubernetes/api/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>

#include "os/clock.h"
#include "unit/kubernetes/http_server.h"

namespace ares::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class HttpTest : public testing::Test {
 protected:
  HttpTest() : engine(HttpEngine::open({}).value()) {}

  // Runs the event loop until the condition holds; false: it did not within a minute.
  bool run_until(const std::function<bool()>& condition) {
    const BootTime end = os::boot_now() + seconds(60);
    while (!condition()) {
      if (os::boot_now() > end) return false;
      const auto deadline = engine->next_deadline();
      const auto wait =
          deadline ? std::chrono::ceil<milliseconds>(*deadline - os::boot_now()).count() : 100;
      pollfd ready{engine->event_fd(), POLLIN, 0};
      (void)::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(wait, 0, 100)));
      engine->dispatch();
    }
    return true;
  }
  HttpAnswer get(HttpRequest request) {
    std::optional<HttpAnswer> answer;
    if (request.method.empty()) request.method = "GET";
    engine->send(std::move(request), [&](HttpAnswer got) { answer = std::move(got); });
    EXPECT_TRUE(run_until([&] { return answer.has_value(); }));
    return answer.value_or(HttpAnswer{});
  }

  std::unique_ptr<HttpEngine> engine;
};

TEST_F(HttpTest, RequestsAndAnswersAreCarriedWhole) {
  HttpServer server([](const ReceivedRequest& request, Connection& connection) {
    connection.answer(201, "got " + request.body, "X-Note: here\r\n");
  });
  const HttpAnswer answer = get({.method = "POST",
                                 .url = server.url() + "/a/../b?c=%2F",
                                 .headers = {"Content-Type: application/json"},
                                 .body = "{}"});
  EXPECT_EQ(answer.status, 201) << answer.error;
  EXPECT_EQ(answer.body, "got {}");
  EXPECT_EQ(answer.headers.at("x-note"), "here");
  const ReceivedRequest request = server.received().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a/../b?c=%2F");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  EXPECT_FALSE(request.headers.contains("expect"));
}

TEST_F(HttpTest, ConnectionsAreUsedAgain) {
  HttpServer server(
      [](const ReceivedRequest&, Connection& connection) { connection.answer(200, "x"); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(get({.url = server.url()}).status, 200);
  for (const ReceivedRequest& request : server.received()) EXPECT_EQ(request.connection, 1);
}

TEST_F(HttpTest, LongAnswersAndRedirectionsEndTheRequest) {
  HttpServer server([](const ReceivedRequest& request, Connection& connection) {
    if (request.path == "/long") return connection.answer(200, std::string(2000, 'x'));
    connection.answer(302, "", "Location: http://127.0.0.1:1/\r\n");
  });
  const HttpAnswer answer = get({.url = server.url() + "/long", .most_of_answer = 1000});
  EXPECT_EQ(answer.status, 0);
  EXPECT_TRUE(answer.is_final);
  EXPECT_THAT(answer.error, HasSubstr("longer than 1000 bytes"));
  EXPECT_EQ(get({.url = server.url() + "/elsewhere"}).status, 302);
}

TEST_F(HttpTest, ServersThatDoNotAnswerAreGivenUp) {
  HttpServer server([](const ReceivedRequest& request, Connection& connection) {
    if (request.path == "/cut") {
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
      return connection.close();
    }
    connection.is_closed_within(60'000);
    connection.close();
  });
  const HttpAnswer slow = get({.url = server.url() + "/slow", .timeout = milliseconds(300)});
  EXPECT_EQ(slow.status, 0);
  EXPECT_TRUE(slow.is_timeout);
  EXPECT_FALSE(slow.is_final);
  const HttpAnswer cut = get({.url = server.url() + "/cut"});
  EXPECT_EQ(cut.status, 0);
  EXPECT_FALSE(cut.is_final);
  EXPECT_EQ(cut.body, "");
  EXPECT_FALSE(get({.url = "http://127.0.0.1:1/"}).error.empty());
  EXPECT_TRUE(get({.url = "ftp://127.0.0.1/"}).is_final);
}

TEST_F(HttpTest, StreamsArriveInPartsAndCanBeCancelledFromWithin) {
  std::atomic<bool> was_closed = false;
  HttpServer server([&](const ReceivedRequest&, Connection& connection) {
    connection.begin_chunks();
    connection.chunk("one ");
    connection.chunk("two ");
    if (connection.is_closed_within(60'000)) was_closed = true;
    connection.close();
  });
  std::string seen;
  HttpEngine::Id id = 0;
  id = engine->send(
      {.method = "GET", .url = server.url()},
      [&](HttpAnswer) { ADD_FAILURE() << "it was cancelled"; },
      [&](std::string_view part) {
        seen += part;
        if (seen == "one two ") engine->cancel(id);
      });
  EXPECT_TRUE(run_until([&] { return was_closed.load(); }));
  EXPECT_EQ(engine->in_flight(), 0u);
}

TEST_F(HttpTest, BodiesOfFailuresAreNotPartOfAStream) {
  HttpServer server([](const ReceivedRequest&, Connection& connection) {
    connection.answer(410, "{\"code\":410}");
  });
  std::optional<HttpAnswer> answer;
  engine->send(
      {.method = "GET", .url = server.url()}, [&](HttpAnswer got) { answer = std::move(got); },
      [](std::string_view) { ADD_FAILURE() << "not of a stream"; });
  ASSERT_TRUE(run_until([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->status, 410);
  EXPECT_EQ(answer->body, "{\"code\":410}");
}

TEST_F(HttpTest, SilentStreamsAreGivenUp) {
  HttpServer server([](const ReceivedRequest&, Connection& connection) {
    connection.begin_chunks();
    connection.chunk("one");
    connection.is_closed_within(60'000);
    connection.close();
  });
  std::optional<HttpAnswer> answer;
  std::string seen;
  engine->send(
      {.method = "GET", .url = server.url(), .idle_timeout = seconds(1)},
      [&](HttpAnswer got) { answer = std::move(got); },
      [&](std::string_view part) { seen += part; });
  ASSERT_TRUE(run_until([&] { return answer.has_value(); }));
  EXPECT_EQ(seen, "one");
  EXPECT_TRUE(answer->is_timeout);
}

TEST_F(HttpTest, CallbacksMaySendAndCancelOthers) {
  HttpServer server(
      [](const ReceivedRequest&, Connection& connection) { connection.answer(200, "x"); });
  int ended = 0;
  std::vector<HttpEngine::Id> ids;
  const HttpDone done = [&](HttpAnswer) {
    ++ended;
    for (const HttpEngine::Id id : ids) engine->cancel(id);
    ids.clear();
    if (ended == 1)
      engine->send({.method = "GET", .url = server.url()}, [&](HttpAnswer) { ++ended; });
  };
  for (int i = 0; i < 8; ++i)
    ids.push_back(engine->send({.method = "GET", .url = server.url()}, done));
  EXPECT_TRUE(run_until([&] { return ended >= 2; }));
  EXPECT_TRUE(run_until([&] { return engine->in_flight() == 0; }));
  EXPECT_EQ(ended, 2);
}

TEST_F(HttpTest, OnlyTheProxyOfTheRequestIsUsed) {
  HttpServer server(
      [](const ReceivedRequest&, Connection& connection) { connection.answer(200, "x"); });
  EXPECT_EQ(get({.url = "http://kube.invalid/version", .proxy_url = server.url()}).status, 200);
  EXPECT_EQ(server.received().at(0).path, "http://kube.invalid/version");
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  EXPECT_EQ(get({.url = server.url() + "/direct"}).status, 200);
  ::unsetenv("http_proxy");
  EXPECT_EQ(server.received().at(1).path, "/direct");
}

}  // namespace
}  // namespace ares::kubernetes
