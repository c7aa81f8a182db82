// Tests: authenticator, local_server
// The local socket: who calls, and what one user can take from the others.
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "rpc/server/listen.h"
#include "rpc/server/local_server.h"
#include "unit/rpc/local_fixture.h"

namespace ares::rpc {
namespace {

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

TEST_F(LocalTest, UsersTakeTurns) {
  if (getuid() != 0) GTEST_SKIP() << "only root can be two users";
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  std::promise<void> all_sent;
  const auto slow = std::make_shared<std::atomic<bool>>(false);
  answer = [slow, go_on = all_sent.get_future().share()](
               const api::Request&, const std::shared_ptr<Responder>& responder) {
    if (*slow) {
      go_on.wait();
      // Each request takes longer than a turn.
      const auto end = std::chrono::steady_clock::now() + 500us;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    responder->send({});
  };
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
  *slow = true;
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

}  // namespace
}  // namespace ares::rpc
