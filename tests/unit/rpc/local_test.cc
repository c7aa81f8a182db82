// Tests: call_context, connection, authenticator, local_peer, local_transport, transport
// The local socket: its frames, and clients that misbehave.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <future>
#include <random>
#include <thread>

#include "auth/munge.h"
#include "rpc/server/listen.h"
#include "rpc/server/local_server.h"
#include "rpc/wire/envelope.h"
#include "rpc/wire/local_frame.h"
#include "rpc/wire/socket.h"
#include "unit/rpc/rpc_fixture.h"

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

void say(const Socket& client, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(client.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // closed by the server
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// A whole frame, or nothing at the end of the connection.
std::optional<std::pair<FrameHead, std::string>> hear(const Socket& client) {
  std::string bytes(kHeadBytes, '\0');
  if (::recv(client.fd(), bytes.data(), kHeadBytes, MSG_WAITALL) !=
      static_cast<ssize_t>(kHeadBytes))
    return std::nullopt;
  const auto head = read_head(bytes);
  if (!head) return std::nullopt;
  std::string body(head->size, '\0');
  if (head->size > 0 && ::recv(client.fd(), body.data(), body.size(), MSG_WAITALL) !=
                            static_cast<ssize_t>(body.size()))
    return std::nullopt;
  return std::pair(*head, body);
}

class LocalTest : public RpcTest {
 protected:
  std::string path() const { return socket.substr(5) + ".call"; }

  Socket open_socket() {
    Socket client = stream_socket(AF_UNIX);
    const sockaddr_un name = unix_name(path());
    EXPECT_EQ(::connect(client.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    return client;
  }

  // A request sealed as our client does it, with its own credential.
  std::string sealed(const api::Request& request) {
    const auth::SessionKey key = auth::SessionKey::random();
    api::Sealed message;
    message.set_credential(
        auth::munge_encode(key.to_credential_payload(), munged.socket(), UserId(getuid())).value());
    put_sealed(&message, key, auth::Direction::request, 0, 1, request.SerializeAsString());
    return message.SerializeAsString();
  }

  void expect_answers() { EXPECT_TRUE(connect().call(ping(), Retry::never)); }
};

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

TEST_F(LocalTest, RefusesAUserWithTooManyConnections) {
  Authenticator authenticator(munged.socket(), 1, {});
  auth::SessionTable sessions({16, 16, 60s});
  const CallHandler handler = [](const Principal&, const api::Request&,
                                 const std::shared_ptr<Responder>&) {};
  LocalLimits limits;
  limits.connections_per_user = 3;
  Problems problems({});
  LocalServer local(CallContext{&authenticator, &sessions, &handler, 1000}, limits,
                    connection_limits(descriptor_limit()), problems);
  ASSERT_TRUE(local.listen(parse_address(socket).value()));
  ASSERT_TRUE(local.start());
  std::vector<Socket> open;
  for (int i = 0; i < 3; ++i) open.push_back(open_socket());
  {
    const Socket one_more = open_socket();
    const auto told = hear(one_more);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->first.call, 0u);
    EXPECT_EQ(refusal_code(told->first.code), ErrorCode::unavailable);
    EXPECT_FALSE(hear(one_more));
  }
  auto late = connect().call(ping(), Retry::never);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  EXPECT_NE(late.error().message.find("too many connections"), std::string::npos)
      << late.error().message;
  open.pop_back();
  // The connection is released as soon as the server notices its end.
  EXPECT_TRUE(eventually([&] {
    const Socket again = open_socket();
    pollfd said{again.fd(), POLLIN, 0};
    return ::poll(&said, 1, 50) == 0;
  }));
}

TEST_F(LocalTest, RefusesAUserWithTooManyPartialBytes) {
  Authenticator authenticator(munged.socket(), 1, {});
  auth::SessionTable sessions({16, 16, 60s});
  const CallHandler handler = [](const Principal&, const api::Request&,
                                 const std::shared_ptr<Responder>&) {};
  LocalLimits limits;
  limits.partial_bytes_per_user = 1 << 20;
  Problems problems({});
  LocalServer local(CallContext{&authenticator, &sessions, &handler, 8 << 20}, limits,
                    connection_limits(descriptor_limit()), problems);
  ASSERT_TRUE(local.listen(parse_address(socket).value()));
  ASSERT_TRUE(local.start());
  const Socket first = open_socket(), second = open_socket();
  const std::string half = frame(1, kSealedFrame, std::string(2 << 20, 'x')).substr(0, 800'000);
  say(first, half);
  say(second, half);
  pollfd said[2] = {{first.fd(), POLLIN, 0}, {second.fd(), POLLIN, 0}};
  ASSERT_GT(::poll(said, 2, 10'000), 0);
  const auto told = hear(said[0].revents != 0 ? first : second);
  ASSERT_TRUE(told);
  EXPECT_NE(told->second.find("too many large requests"), std::string::npos);
}

TEST_F(LocalTest, TheSystemSaysWhoCallsAndMungeIsNotAsked) {
  munged.stop();
  start();
  Client client = connect();
  for (int i = 0; i < 3; ++i) {
    const auto response = client.call(ping(), Retry::never);
    ASSERT_TRUE(response) << response.error().message;
  }
  std::atomic<int> answered = 0;
  client.call_async(ping(), [&](const Result<api::Response>& response) { answered += !!response; });
  EXPECT_TRUE(eventually([&] { return answered == 1; }));
  const Seen call = seen().front();
  EXPECT_EQ(call.caller.uid, UserId(getuid()));
  EXPECT_EQ(call.caller.gid, GroupId(getgid()));
  EXPECT_EQ(call.caller.user, system_user_name(UserId(getuid())));
  EXPECT_FALSE(call.caller.host.empty());
}

// A client of release 0.1.0 brings a credential; what it names must not be less than what the system says.
TEST_F(LocalTest, ACredentialIsStillAccepted) {
  start();
  const Socket client = open_socket();
  say(client, frame(1, kSealedFrame, sealed(ping())));
  const auto heard = hear(client);
  ASSERT_TRUE(heard);
  api::Sealed answered;
  ASSERT_TRUE(answered.ParseFromString(heard->second));
  EXPECT_NE(answered.session(), 0u);
  EXPECT_FALSE(answered.mac().empty());
}

// Listens in the place of a controller, refuses requests without a credential as release 0.1.0 does, and others with "seen".
class OtherListener {
 public:
  explicit OtherListener(const std::string& path)
      : listener_(UnixListener::open(path, 0600).value()) {}

  const UnixListener& listener() const { return listener_; }

  // What arrives until a credential does; at most two requests.
  std::vector<api::Sealed> serve() {
    std::vector<api::Sealed> requests;
    pollfd waiting{listener_.fd(), POLLIN, 0};
    ::poll(&waiting, 1, 10'000);
    const Socket peer(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    while (requests.size() < 2) {
      const auto heard = hear(peer);
      if (!heard) return requests;
      requests.emplace_back().ParseFromString(heard->second);
      const bool done = !requests.back().credential().empty();
      say(peer, refusal_frame(heard->first.call, done ? Error{ErrorCode::permission_denied, "seen"}
                                                      : Error{ErrorCode::unauthenticated,
                                                              std::string(auth::kSessionUnknown)}));
      if (done) return requests;
    }
    return requests;
  }

 private:
  UnixListener listener_;
};

TEST_F(LocalTest, BringsACredentialToAControllerThatWantsOne) {
  OtherListener old(path());
  std::vector<api::Sealed> requests;
  std::thread serving([&] { requests = old.serve(); });
  const auto response = connect().call(ping(), Retry::never);
  serving.join();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "seen");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[0].credential().empty());
  EXPECT_FALSE(requests[1].credential().empty());
}

// If the system names another user, a request leaves only sealed under a key that this user cannot read.
TEST_F(LocalTest, SendsNothingInClearToAnotherUser) {
  OtherListener other(path());
  if (getuid() == 0) {
    // The user counts that called listen() last. The bare system call changes that of one thread.
    std::thread([&] {
      ASSERT_EQ(::syscall(SYS_setresuid, -1, 1, -1), 0);
      ASSERT_EQ(::listen(other.listener().fd(), 16), 0);
    }).join();
  } else {
    client_options.server_uid = UserId(getuid() + 1);
  }
  std::vector<api::Sealed> requests;
  std::thread serving([&] { requests = other.serve(); });
  EXPECT_FALSE(connect().call(ping(), Retry::never));
  serving.join();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_FALSE(requests[0].credential().empty());
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

TEST_F(LocalTest, UsersTakeTurns) {
  if (getuid() != 0) GTEST_SKIP() << "only root can be two users";
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  start();
  const auto send = [&](const Socket& client, std::uint32_t calls) {
    api::Sealed request;
    request.set_payload(ping().SerializeAsString());
    std::string bytes;
    for (std::uint32_t call = 1; call <= calls; ++call)
      bytes += frame(call, kSealedFrame, request.SerializeAsString());
    say(client, bytes);
  };
  Socket modest;
  std::thread([&] {  // the bare system call changes the user of one thread
    ASSERT_EQ(::syscall(SYS_setresuid, -1, 1, -1), 0);
    modest = open_socket();
  })
      .join();
  const Socket greedy = open_socket();
  for (const Socket* client :
       std::initializer_list<const Socket*>{&modest, &greedy}) {  // so that both names are known
    send(*client, 1);
    ASSERT_TRUE(hear(*client));
  }
  std::promise<void> all_sent;
  const auto go_on = all_sent.get_future().share();
  answer = [go_on](const api::Request&, const std::shared_ptr<Responder>& responder) {
    go_on.wait();
    // Each request takes longer than a turn.
    const auto end = std::chrono::steady_clock::now() + 500us;
    while (std::chrono::steady_clock::now() < end) {
    }
    responder->send({});
  };
  send(greedy, 200);
  ASSERT_TRUE(eventually([&] { return seen().size() == 3; }));
  send(modest, 1);
  all_sent.set_value();
  ASSERT_TRUE(hear(modest));
  const auto calls = seen();
  const auto last = std::find_if(calls.rbegin(), calls.rend(),
                                 [](const Seen& call) { return call.caller.uid == UserId(1); });
  EXPECT_LT(calls.rend() - last, 10);
}

// Answers that are not read are bounded for all connections of a user together.
TEST_F(LocalTest, TurnsAwayWhoLeavesTooManyAnswers) {
  Authenticator authenticator(munged.socket(), 1, {});
  auth::SessionTable sessions({16, 16, 60s});
  const CallHandler handler = [](const Principal&, const api::Request&,
                                 const std::shared_ptr<Responder>& responder) {
    api::Response response;
    response.mutable_acted()->set_text(std::string(1 << 20, 'x'));
    responder->send(std::move(response));
  };
  Problems problems({});
  LocalLimits limits;
  limits.unsent_bytes_per_user = 8 << 20;
  LocalServer local(CallContext{&authenticator, &sessions, &handler, 1000}, limits,
                    connection_limits(descriptor_limit()), problems);
  ASSERT_TRUE(local.listen(parse_address(socket).value()));
  ASSERT_TRUE(local.start());
  std::vector<Socket> greedy;
  std::size_t cut = 0;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(open_socket());
    api::Sealed request;
    request.set_payload(ping().SerializeAsString());
    for (std::uint32_t call = 1; call <= 3; ++call)
      say(greedy.back(), frame(call, kSealedFrame, request.SerializeAsString()));
  }
  EXPECT_TRUE(eventually([&] {
    cut = static_cast<std::size_t>(std::count_if(greedy.begin(), greedy.end(), [](const Socket& s) {
      pollfd ended{s.fd(), POLLRDHUP, 0};
      return ::poll(&ended, 1, 0) == 1;
    }));
    return cut >= 6;
  })) << cut;
  EXPECT_LT(cut, 10u);
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
