// Tests: open_stream, stream, local_stream, grpc_stream, stream_reactor, stream_seal, local_peer
// One request and an answer in parts, on the local socket and by TCP.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/client/open_stream.h"
#include "unit/rpc/rpc_fixture.h"

namespace ares::rpc {
namespace {

api::Response part(std::uint64_t lsn, std::size_t bytes = 0) {
  api::Response response;
  response.mutable_watched()->set_lsn(lsn);
  if (bytes > 0) response.mutable_watched()->mutable_jobs()->set_cluster(std::string(bytes, 'x'));
  return response;
}

api::Request watch() {
  api::Request request;
  request.mutable_watch()->mutable_jobs();
  return request;
}

// The next part, waited for; none: the stream has ended.
std::optional<std::uint64_t> next(Stream& stream, Error* end = nullptr) {
  for (;;) {
    auto got = stream.next();
    if (!got && end) *end = got.error();
    if (!got) return std::nullopt;
    if (*got) return (*got)->watched().lsn();
    pollfd ready{stream.fd(), POLLIN, 0};
    if (::poll(&ready, 1, 20'000) != 1) return std::nullopt;
  }
}

// Sends parts 1, 2, ... each when the one before was taken.
void send_all(const std::shared_ptr<Responder>& responder, std::uint64_t number, std::uint64_t last,
              std::size_t bytes = 0) {
  if (number > last)
    return responder->refuse({ErrorCode::unavailable, "the controller is shutting down"});
  responder->send_part(part(number, bytes), [=](bool taken) {
    if (taken) send_all(responder, number + 1, last, bytes);
  });
}

class StreamTest : public RpcTest {
 protected:
  void expect_parts_in_order() {
    answer = [](const api::Request& request, std::shared_ptr<Responder> responder) {
      EXPECT_TRUE(request.has_watch());
      send_all(responder, 1, 100);
    };
    auto stream = open_stream(client_options, 0, watch());
    ASSERT_TRUE(stream) << stream.error().message;
    for (std::uint64_t number = 1; number <= 100; ++number) ASSERT_EQ(next(**stream), number);
    Error end;
    EXPECT_FALSE(next(**stream, &end));
    EXPECT_EQ(end.code, ErrorCode::unavailable) << end.message;
    EXPECT_EQ(seen().size(), 1U);
    EXPECT_EQ(seen()[0].caller.uid, UserId(getuid()));
  }

  // A caller that does not read is not sent more than what the connection holds.
  void expect_slow_caller_to_be_noticed() {
    std::atomic<int> sent = 0, taken = 0, lost = 0;
    std::function<void(std::shared_ptr<Responder>)> more =
        [&](const std::shared_ptr<Responder>& responder) {
          ++sent;
          responder->send_part(part(7, 1 << 20), [&, responder](bool ok) {
            ok ? ++taken : ++lost;
            if (ok && taken < 50) more(responder);
          });
        };
    answer = [&](const api::Request&, std::shared_ptr<Responder> responder) { more(responder); };
    {
      auto stream = open_stream(client_options, 0, watch());
      ASSERT_TRUE(stream) << stream.error().message;
      ASSERT_EQ(next(**stream), 7U);
      ASSERT_TRUE(eventually([&] { return sent > taken; }));
      EXPECT_LT(taken, 50);
      for (int i = 1; i < 50; ++i) ASSERT_EQ(next(**stream), 7U);
    }
    server.reset();
  }

  void expect_end_of_caller_to_be_noticed() {
    std::shared_ptr<Responder> kept;
    std::mutex mutex;
    answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
      const std::lock_guard lock(mutex);
      kept = responder;
      responder->send_part(part(1), [](bool) {});
    };
    auto stream = open_stream(client_options, 0, watch());
    ASSERT_TRUE(stream);
    ASSERT_EQ(next(**stream), 1U);
    stream->reset();
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return kept && kept->abandoned();
    }));
    bool taken = true;
    kept->send_part(part(2), [&](bool ok) { taken = ok; });
    EXPECT_FALSE(taken);
    kept.reset();
  }
};
class TcpTestStream : public StreamTest {};

TEST_F(StreamTest, PartsArriveInOrderAndThenTheEnd) {
  start();
  expect_parts_in_order();
}
TEST_F(TcpTestStream, PartsArriveInOrderAndThenTheEnd) {
  start_on_tcp();
  expect_parts_in_order();
}

TEST_F(StreamTest, CallerThatDoesNotReadIsNotSentMore) {
  start();
  expect_slow_caller_to_be_noticed();
}
TEST_F(TcpTestStream, CallerThatDoesNotReadIsNotSentMore) {
  start_on_tcp();
  expect_slow_caller_to_be_noticed();
}

TEST_F(StreamTest, CallerThatLeavesIsNoticed) {
  start();
  expect_end_of_caller_to_be_noticed();
}
TEST_F(TcpTestStream, CallerThatLeavesIsNoticed) {
  start_on_tcp();
  expect_end_of_caller_to_be_noticed();
}

TEST_F(StreamTest, RefusalHasItsCodeAndText) {
  start();
  answer = [](const api::Request&, std::shared_ptr<Responder> responder) {
    responder->refuse({ErrorCode::resource_exhausted, "too many"});
  };
  auto stream = open_stream(client_options, 0, watch());
  ASSERT_TRUE(stream);
  Error end;
  EXPECT_FALSE(next(**stream, &end));
  EXPECT_EQ(end.code, ErrorCode::resource_exhausted);
  EXPECT_EQ(end.message, "too many");
}

TEST_F(TcpTestStream, CallThatIsNoStreamTakesNoParts) {
  start_on_tcp();
  answer = [](const api::Request&, std::shared_ptr<Responder> responder) {
    api::Response response;
    response.mutable_acted()->set_text(responder->takes_parts() ? "parts" : "none");
    responder->send(std::move(response));
  };
  const auto response = connect().call(watch(), Retry::never);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->acted().text(), "none");
}

// A machine that takes connections and says nothing, and a user who ends the command meanwhile.
TEST_F(TcpTestStream, WaitForAConnectionEndsWhenItIsInterrupted) {
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&name), size), 0);
  ASSERT_EQ(::listen(silent, 8), 0);
  ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&name), &size), 0);
  client_options.addresses = {"tcp:127.0.0.1:" + std::to_string(ntohs(name.sin_port))};
  client_options.timeout = std::chrono::hours(1);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  const auto stream = open_stream(client_options, 0, watch(), ends[0]);
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, ErrorCode::unavailable);
  for (const int fd : {silent, ends[0], ends[1]}) ::close(fd);
}

TEST_F(StreamTest, NothingListensIsUnavailable) {
  const auto stream = open_stream(client_options, 0, watch());
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace ares::rpc
