// Tests: call_context, connection, local_peer, local_transport, client/transport
// The local socket: its frames, and clients that misbehave.
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "unit/rpc/local_fixture.h"

namespace ares::rpc {
namespace {

TEST(LocalFrame, IsReadAsItWasWritten) {
  const std::string bytes = frame(0x01020304, kCancelFrame, "body");
  ASSERT_EQ(bytes.size(), kHeadBytes + 4);
  const auto head = read_head(bytes);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->call, 0x01020304u);
  EXPECT_EQ(head->code, kCancelFrame);
  EXPECT_EQ(head->size, 4u);
  EXPECT_EQ(bytes.substr(kHeadBytes), "body");
  EXPECT_FALSE(read_head("PRI * HTTP/2.0\r\n"));
}

TEST(LocalFrame, RefusalsKeepTheirErrorCode) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    const auto head = read_head(refusal_frame(7, {static_cast<ErrorCode>(code), "no"}));
    EXPECT_EQ(static_cast<int>(refusal_code(head->code)), code);
    EXPECT_NE(head->code, kSealedFrame);
  }
  EXPECT_EQ(refusal_code(4711), ErrorCode::internal);
}

TEST_F(LocalTest, AnswersARequestThatComesByteByByte) {
  start();
  const Socket client = open_socket();
  const std::string bytes = frame(3, kSealedFrame, sealed(ping()));
  for (const char byte : bytes) say(client, std::string_view(&byte, 1));
  const auto heard = hear(client);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->first.call, 3u);
  EXPECT_EQ(heard->first.code, kSealedFrame);
}

TEST_F(LocalTest, AnswersManyRequestsOfOneWrite) {
  start();
  const Socket client = open_socket();
  std::string bytes;
  for (std::uint32_t call = 1; call <= 50; ++call)
    bytes += frame(call, kSealedFrame, sealed(ping()));
  say(client, bytes);
  std::set<std::uint32_t> answered;
  for (int i = 0; i < 50; ++i) {
    const auto heard = hear(client);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->first.code, kSealedFrame);
    answered.insert(heard->first.call);
  }
  EXPECT_EQ(answered.size(), 50u);
}

TEST_F(LocalTest, ClosesTheConnectionOnRandomBytes) {
  start();
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const Socket client = open_socket();
    std::string noise(random() % 300 + kHeadBytes, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    if (i % 2 == 0) noise.replace(0, 4, "ARE1");
    say(client, noise);
    ::shutdown(client.fd(), SHUT_WR);
    while (hear(client)) {
    }
  }
  expect_answers();
  EXPECT_EQ(seen().size(), 1u);
}

TEST_F(LocalTest, ClosesTheConnectionWhenARequestNumberIsInUse) {
  start();
  std::shared_ptr<Responder> kept;
  std::mutex mutex;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    if (!kept) kept = std::move(responder);
  };
  const Socket client = open_socket();
  say(client, frame(1, kSealedFrame, sealed(ping())));
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return kept != nullptr;
  }));
  say(client, frame(1, kSealedFrame, sealed(ping())));
  while (hear(client)) {  // the end of the first call, then of the connection
  }
  EXPECT_TRUE(kept->abandoned());
  server->stop();
}

TEST_F(LocalTest, ACancelledCallIsMarkedAbandoned) {
  start();
  std::shared_ptr<Responder> kept;
  std::mutex mutex;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    kept = std::move(responder);
  };
  const Socket client = open_socket();
  say(client, frame(9, kSealedFrame, sealed(ping())));
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return kept != nullptr;
  }));
  EXPECT_FALSE(kept->abandoned());
  say(client, frame(8, kCancelFrame, {}));  // no such request: no effect
  say(client, frame(9, kCancelFrame, {}));
  const auto told = hear(client);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->first.call, 9u);
  EXPECT_TRUE(kept->abandoned());
  server->stop();
}

TEST_F(LocalTest, SkipsARequestThatIsTooLarge) {
  server_options.max_request_bytes = 1000;
  start();
  const Socket client = open_socket();
  std::thread sender([&] {
    say(client, frame(1, kSealedFrame, std::string(3 << 20, 'x')));
    say(client, frame(2, kSealedFrame, sealed(ping())));
  });
  const auto refused = hear(client);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->first.call, 1u);
  EXPECT_EQ(refusal_code(refused->first.code), ErrorCode::invalid_argument);
  EXPECT_NE(refused->second.find("larger than the controller accepts"), std::string::npos);
  const auto answered = hear(client);
  sender.join();
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->first.call, 2u);
  EXPECT_EQ(answered->first.code, kSealedFrame);
}

// A client that reads no answers is not read from until it does; then the rest is processed.
TEST_F(LocalTest, StopsReadingFromAClientThatDoesNotRead) {
  start();
  answer = [](const api::Request& request, std::shared_ptr<Responder> responder) {
    api::Response response;
    response.mutable_acted()->set_text(request.request_id() + std::string(1 << 20, 'x'));
    responder->send(std::move(response));
  };
  constexpr int kCalls = 40;
  const Socket client = open_socket();
  std::string bytes;
  for (std::uint32_t call = 1; call <= kCalls; ++call)
    bytes += frame(call, kSealedFrame, sealed(ping()));
  std::thread sender([&] { say(client, bytes); });
  expect_answers();  // other clients are served
  int answered = 0;
  while (answered < kCalls && hear(client)) ++answered;
  sender.join();
  EXPECT_EQ(answered, kCalls);
}

// Regression: the rest of a request that had begun before the pause was never read.
TEST_F(LocalTest, ReadsOnAfterTheAnswersThatStoppedIt) {
  start();
  answer = [](const api::Request&, std::shared_ptr<Responder> responder) {
    api::Response response;
    response.mutable_acted()->set_text(std::string(6 << 20, 'x'));
    responder->send(std::move(response));
  };
  const Socket client = open_socket();
  const std::string second = frame(2, kSealedFrame, sealed(ping()));
  say(client, frame(1, kSealedFrame, sealed(ping())) + second.substr(0, second.size() / 2));
  ASSERT_TRUE(hear(client));
  say(client, std::string_view(second).substr(second.size() / 2));
  const auto heard = hear(client);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->first.call, 2u);
}

TEST_F(LocalTest, ADeletedSocketIsMadeAgain) {
  std::mutex mutex;
  std::vector<std::string> told;
  server_options.on_problem = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    told.push_back(text);
  };
  start();
  Client before = connect();
  ASSERT_TRUE(before.call(ping(), Retry::never));
  std::filesystem::remove(path());
  EXPECT_TRUE(eventually([&] { return connect().call(ping(), Retry::never).has_value(); }));
  EXPECT_TRUE(before.call(ping(), Retry::never)) << "open connections stay";
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find(path()), std::string::npos);
}

TEST_F(LocalTest, RemovesItsSocket) {
  start();
  EXPECT_EQ(::access(path().c_str(), F_OK), 0);
  server->stop();
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
}

TEST_F(LocalTest, ManyThreadsCallInBothDirectionsAtOnce) {
  start();
  Client client = connect();
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        client.call_async(ping(), [&](Result<api::Response> response) {
          EXPECT_TRUE(response) << response.error().message;
          ++answered;
        });
        EXPECT_TRUE(client.call(ping()));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return answered == 400; }));
  EXPECT_EQ(seen().size(), 800u);
}

}  // namespace
}  // namespace ares::rpc
