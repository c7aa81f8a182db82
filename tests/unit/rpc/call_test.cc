// Tests: call_context, call_reactor, connection, grpc_transport, client/transport, rpc/client/transport, handlers, make_transport
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <thread>

#include "auth/munge.h"
#include "proto/gen/api.grpc.pb.h"
#include "rpc/wire/envelope.h"
#include "unit/rpc/rpc_fixture.h"

namespace ares::rpc {
namespace {

TEST_F(RpcTest, TheHandlerSeesUserHostAndPeerOfTheCaller) {
  start();
  Client client = connect();
  api::Request request = ping();
  request.set_request_id("mine");
  auto response = client.call(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->acted().text(), "mine");
  EXPECT_EQ(response->server_version(), ARES_VERSION);
  ASSERT_EQ(seen().size(), 1u);
  const Seen call = seen()[0];
  EXPECT_EQ(call.caller.uid, UserId(getuid()));
  EXPECT_EQ(call.caller.gid, GroupId(getgid()));
  EXPECT_FALSE(call.caller.user.empty());
  EXPECT_FALSE(call.caller.host.empty());
  EXPECT_EQ(call.request.client_version(), ARES_VERSION);
  EXPECT_NE(call.peer.find("unix"), std::string::npos);
}

TEST_F(RpcTest, UserNameComesFromTheConfiguredLookup) {
  server_options.user_name = [](UserId uid) { return "user" + std::to_string(uid.value()); };
  start();
  ASSERT_TRUE(connect().call(ping()));
  EXPECT_EQ(seen()[0].caller.user, "user" + std::to_string(getuid()));
}

TEST_F(TcpTest, ManyCallsUseOneCredential) {
  start_on_tcp();
  Client client = connect();
  ASSERT_TRUE(client.call(ping()));
  munged.stop();  // no other credential can be made or read
  for (int i = 0; i < 100; ++i) {
    auto response = client.call(ping());
    ASSERT_TRUE(response) << response.error().message;
  }
}

TEST_F(RpcTest, EveryRequestGetsItsOwnId) {
  start();
  Client client = connect();
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(client.call(ping()).value().acted().text());
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_FALSE(ids.contains(""));
}

TEST_F(TcpTest, WorksOverTcp) {
  server_options.listen = {socket, "tcp:127.0.0.1:0"};
  start();
  ASSERT_EQ(server->addresses().size(), 2u);
  EXPECT_EQ(server->addresses()[0], socket);
  const std::string tcp = server->addresses()[1];
  EXPECT_TRUE(tcp.starts_with("tcp:127.0.0.1:") && !tcp.ends_with(":0")) << tcp;
  client_options.addresses = {tcp};
  EXPECT_TRUE(connect().call(ping()));
  EXPECT_TRUE(seen()[0].peer.starts_with("ipv4:127.0.0.1:")) << seen()[0].peer;
  client_options.addresses = {"tcp:localhost" + tcp.substr(tcp.rfind(':'))};
  auto by_name = connect().call(ping());
  EXPECT_TRUE(by_name) << by_name.error().message;
}

TEST_F(RpcTest, ErrorCodeAndMessageReachTheClient) {
  start();
  answer = [](const api::Request&, std::shared_ptr<Responder> responder) {
    responder->refuse({ErrorCode::not_found, "no job 7 \xff"});  // not UTF-8, as in a file name
  };
  auto response = connect().call(ping());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error(), (Error{ErrorCode::not_found, "no job 7 \xff"}));
}

TEST_F(RpcTest, AnUnknownErrorCodeBecomesInternal) {
  start();
  answer = [](const api::Request&, std::shared_ptr<Responder> responder) {
    api::Response response;
    response.mutable_failure()->set_code(-5);
    response.mutable_failure()->set_message("strange");
    responder->send(std::move(response));
  };
  EXPECT_EQ(connect().call(ping()).error(), (Error{ErrorCode::internal, "strange"}));
}

TEST_F(RpcTest, DroppingTheResponderSendsAnAnswer) {
  start();
  answer = [](const api::Request&, std::shared_ptr<Responder>) {};
  EXPECT_EQ(connect().call(ping()).error().code, ErrorCode::internal);
}

TEST_F(RpcTest, AnswersAfterTheFirstAreIgnored) {
  start();
  answer = [](const api::Request&, std::shared_ptr<Responder> responder) {
    responder->refuse({ErrorCode::stale, "first"});
    responder->refuse({ErrorCode::stale, "second"});
  };
  EXPECT_EQ(connect().call(ping()).error().message, "first");
}

TEST_F(RpcTest, AnotherThreadMayAnswerLater) {
  start();
  std::mutex mutex;
  std::vector<std::shared_ptr<Responder>> waiting;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
  };
  std::thread other([&] {
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return !waiting.empty();
    }));
    api::Response response;
    response.mutable_acted()->set_text("late");
    waiting[0]->send(std::move(response));
  });
  EXPECT_EQ(connect().call(ping()).value().acted().text(), "late");
  other.join();
}

TEST_F(RpcTest, TheHandlerLearnsThatTheCallerHasDisconnected) {
  start();
  std::mutex mutex;
  std::shared_ptr<Responder> kept;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    kept = std::move(responder);
  };
  client_options.timeout = 200ms;
  auto response = connect().call(ping(), Retry::never);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_NE(response.error().message.find("did not answer in time"), std::string::npos);
  const std::lock_guard lock(mutex);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(eventually([&] { return kept->abandoned(); }));
  kept->send({});  // no effect
}

TEST_F(RpcTest, RetriesWithTheSameIdUntilTheServerStarts) {
  std::vector<std::string> lines;
  client_options.on_retry = [&](const std::string& line) { lines.push_back(line); };
  Client client = connect();
  std::thread later([&] {
    std::this_thread::sleep_for(200ms);  // how long the controller is away, not a wait
    start();
  });
  auto response = client.call(ping());
  later.join();
  ASSERT_TRUE(response) << response.error().message;
  ASSERT_EQ(lines.size(), 1u) << "one line, however many tries";
  EXPECT_NE(lines[0].find("unavailable (No such file or directory), retrying"), std::string::npos)
      << lines[0];
}

TEST_F(RpcTest, RetriesAnUnavailableAnswerWithTheSameId) {
  start();
  std::atomic<int> refusals = 3;
  answer = [&](const api::Request& request, std::shared_ptr<Responder> responder) {
    if (refusals-- > 0) return responder->refuse({ErrorCode::unavailable, "no database"});
    api::Response response;
    response.mutable_acted()->set_text(request.request_id());
    responder->send(std::move(response));
  };
  auto response = connect().call(ping());
  ASSERT_TRUE(response) << response.error().message;
  ASSERT_EQ(seen().size(), 4u);
  for (const Seen& call : seen()) EXPECT_EQ(call.request.request_id(), response->acted().text());
}

TEST_F(RpcTest, WhyItRetriesIsToldOnceTheControllerSaysIt) {
  start();
  std::vector<std::string> lines;
  client_options.on_retry = [&](const std::string& line) { lines.push_back(line); };
  client_options.timeout = 200ms;
  std::mutex mutex;
  std::vector<std::shared_ptr<Responder>> held;
  std::atomic<int> calls = 0;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const int call = ++calls;
    if (call == 1) {
      const std::lock_guard lock(mutex);
      return held.push_back(std::move(responder));
    }
    if (call < 5) return responder->refuse({ErrorCode::unavailable, "the disk is full"});
    responder->send({});
  };
  ASSERT_TRUE(connect().call(ping()));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("did not answer in time, retrying"), std::string::npos) << lines[0];
  EXPECT_EQ(lines[1], "the disk is full, retrying");
}

TEST_F(RpcTest, RetriesEndAtTheDeadline) {
  client_options.retry_for = 150ms;
  auto response = connect().call(ping());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_NE(response.error().message.find("gave up after"), std::string::npos);
}

TEST_F(RpcTest, TriesEveryControllerBeforeSleeping) {
  start();
  client_options.addresses = {"unix:" + directory.path() + "/absent", socket};
  client_options.first_delay = client_options.max_delay = 1h;
  EXPECT_TRUE(connect().call(ping()));
}

TEST_F(RpcTest, CallsSucceedAfterAServerRestart) {
  start();
  Client client = connect();
  api::Request request = ping();
  request.set_request_id("same");
  ASSERT_TRUE(client.call(request));
  server->stop();
  start();
  auto response = client.call(request);
  ASSERT_TRUE(response) << response.error().message;
  ASSERT_EQ(seen().size(), 2u);
  EXPECT_EQ(seen()[1].request.request_id(), "same");
}

TEST_F(TcpTest, ALostSessionIsReopenedWithoutARetryMessage) {
  server_options.max_sessions = 1;
  start_on_tcp();
  Client one = connect(), two = connect();
  client_options.on_retry = [](const std::string& line) { ADD_FAILURE() << line; };
  for (int i = 0; i < 5; ++i) {  // each evicts the other's session
    EXPECT_TRUE(one.call(ping(), Retry::never));
    EXPECT_TRUE(two.call(ping(), Retry::never));
  }
}

TEST_F(RpcTest, CallsInFlightEndWhenTheServerStops) {
  start();
  std::mutex mutex;
  std::vector<std::shared_ptr<Responder>> kept;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(responder));
  };
  Client client = connect();
  std::thread caller(
      [&] { EXPECT_EQ(client.call(ping(), Retry::never).error().code, ErrorCode::unavailable); });
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return kept.size() == 1;
  }));
  server->stop();
  caller.join();
  EXPECT_TRUE(kept[0]->abandoned());
}

TEST_F(RpcTest, RefusesRequestsThatAreTooLarge) {
  server_options.max_request_bytes = 1 << 20;
  start();
  api::Request request;
  request.mutable_submit()->set_script(std::string((1 << 20) + 100, 'x'));
  auto little_more = connect().call(request);
  ASSERT_FALSE(little_more);
  EXPECT_EQ(little_more.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(little_more.error().message.find("at most 1048576"), std::string::npos);

  request.mutable_submit()->set_script(std::string(4 << 20, 'x'));
  auto much_more = connect().call(request);
  ASSERT_FALSE(much_more);
  EXPECT_EQ(much_more.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(much_more.error().message.find("larger than the controller accepts"),
            std::string::npos);

  client_options.max_request_bytes = 1000;
  auto at_home = connect().call(request);
  ASSERT_FALSE(at_home);
  EXPECT_EQ(at_home.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(seen().empty());
}

// A controller that notes how much each message carries.
class SizesOfMessages final : public api::Ares::Service {
 public:
  explicit SizesOfMessages(std::string munge_socket) : munge_socket_(std::move(munge_socket)) {}

  grpc::Status Call(grpc::ServerContext*, const api::Sealed* request, api::Sealed* out) override {
    const std::lock_guard lock(mutex_);
    if (!request->credential().empty())
      key_ = auth::SessionKey::from_credential_payload(
                 auth::munge_decode(request->credential(), munge_socket_).value().payload)
                 .value();
    sizes_.push_back(request->payload().size());
    put_sealed(out, *key_, auth::Direction::answer, 7, request->sequence(),
               api::Response().SerializeAsString());
    return grpc::Status::OK;
  }
  std::vector<std::size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sizes_, {});
  }

 private:
  const std::string munge_socket_;
  std::mutex mutex_;
  std::optional<auth::SessionKey> key_;
  std::vector<std::size_t> sizes_;
};

TEST_F(TcpTest, ALargeRequestDoesNotTravelInTheFirstMessage) {
  SizesOfMessages controller(munged.socket());
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&controller);
  const auto listening = builder.BuildAndStart();
  client_options.addresses = {"tcp:127.0.0.1:" + std::to_string(port)};
  api::Request large = ping();
  large.mutable_submit()->set_script(std::string(100'000, 'x'));

  ASSERT_TRUE(connect().call(large));
  auto sizes = controller.sizes();
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0], 0u);
  EXPECT_GT(sizes[1], 100'000u);

  std::atomic<int> answered = 0;
  Client client = connect();
  client.call_async(large, [&](const Result<api::Response>& response) { answered += !!response; });
  EXPECT_TRUE(eventually([&] { return answered == 1; }));
  sizes = controller.sizes();
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0], 0u);
  ASSERT_TRUE(client.call(large));
  EXPECT_EQ(controller.sizes().size(), 1u) << "there is a session";

  ASSERT_TRUE(connect().call(ping()));
  EXPECT_EQ(controller.sizes().size(), 1u) << "a small one is one round trip";
}

TEST_F(TcpTest, CarriesEightMegabytesByTcp) {
  start_on_tcp();
  api::Request request;
  request.mutable_submit()->set_script(std::string((8 << 20) - 1000, 'x'));
  auto response = connect().call(request);
  ASSERT_TRUE(response) << response.error().message;
}

TEST_F(RpcTest, CarriesEightMegabytesAndALargerAnswer) {
  start();
  answer = [](const api::Request& request, std::shared_ptr<Responder> responder) {
    api::Response response;
    for (int i = 0; i < 4; ++i)
      response.mutable_nodes()->add_nodes()->set_reason(request.submit().script());
    responder->send(std::move(response));
  };
  api::Request request;
  request.mutable_submit()->set_script(std::string((8 << 20) - 1000, 'x'));
  auto response = connect().call(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->nodes().nodes(3).reason(), request.submit().script());
}

TEST_F(RpcTest, OneConnectionCarriesManyCallsInFlight) {
  start();
  Client client = connect();
  constexpr int kCalls = 2000;
  std::atomic<int> next = 0, good = 0, done = 0;
  std::function<void()> launch = [&] {
    const int number = next++;
    if (number >= kCalls) return;
    api::Request request = ping();
    request.set_request_id(std::to_string(number));
    client.call_async(request, [&, number](Result<api::Response> response) {
      if (response && response->acted().text() == std::to_string(number)) ++good;
      launch();
      ++done;
    });
  };
  for (int i = 0; i < 64; ++i) launch();
  EXPECT_TRUE(eventually([&] { return done == kCalls; }));
  EXPECT_EQ(good, kCalls);
}

TEST_F(RpcTest, ThreadsShareOneClient) {
  start();
  Client client = connect();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto response = client.call(ping());
        EXPECT_TRUE(response) << response.error().message;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen().size(), 400u);
}

TEST_F(RpcTest, AsynchronousCallsFailWhenNoServerAnswers) {
  Client client = connect();
  std::atomic<int> failed = 0;
  for (int i = 0; i < 100; ++i)
    client.call_async(ping(), [&](Result<api::Response> response) {
      if (!response && response.error().code == ErrorCode::unavailable) ++failed;
    });
  EXPECT_TRUE(eventually([&] { return failed == 100; }));
}

TEST_F(RpcTest, TheClientsDestructorWaitsForItsCalls) {
  start();
  std::mutex mutex;
  std::vector<std::shared_ptr<Responder>> kept;
  answer = [&](const api::Request&, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(responder));
  };
  int ended = 0;
  {
    Client client = connect();
    for (int i = 0; i < 10; ++i)
      client.call_async(ping(), [&](Result<api::Response> response) {
        EXPECT_FALSE(response);
        const std::lock_guard lock(mutex);
        ++ended;
      });
  }
  EXPECT_EQ(ended, 10);
  server->stop();  // some calls may arrive only now
}

TEST_F(TcpTest, ReportsAMissingMungedOnTheClientsHost) {
  start_on_tcp();
  client_options.munge_socket += ".nowhere";
  client_options.timeout = 300ms;
  auto response = connect().call(ping());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(response.error().message.find("start the munge service"), std::string::npos);
}

TEST_F(TcpTest, ReportsAMissingMungedOnTheServersHost) {
  server_options.munge_socket += ".nowhere";
  start_on_tcp();
  auto response = connect().call(ping(), Retry::never);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_NE(response.error().message.find("controller"), std::string::npos);
}

TEST_F(RpcTest, RefusesInvalidAddresses) {
  for (const char* address : {"", "unix:relative", "tcp:host", "tcp:127.0.0.1:0", "http://x"}) {
    client_options.addresses = {address};
    auto client = Client::open(client_options);
    ASSERT_FALSE(client) << address;
    EXPECT_EQ(client.error().code, ErrorCode::invalid_argument);
  }
  client_options.addresses = {};
  EXPECT_FALSE(Client::open(client_options));
}

TEST(RequestId, NeverRepeats) {
  std::set<std::string> ids;
  for (int i = 0; i < 10'000; ++i) ids.insert(new_request_id());
  EXPECT_EQ(ids.size(), 10'000u);
  EXPECT_EQ(ids.begin()->size(), 26u);
}

}  // namespace
}  // namespace ares::rpc
