// Tests: gate, event_loop, listen
#include <grpcpp/client_context.h>

#include <atomic>
#include <fstream>

#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/channel.h"
#include "rpc/server/listen.h"
#include "rpc/wire/address.h"
#include "unit/rpc/rpc_fixture.h"

namespace ares::rpc {
namespace {

class ListenTest : public RpcTest {
 protected:
  Status try_start(std::vector<std::string> addresses) {
    server_options.listen = std::move(addresses);
    other = std::make_unique<Server>(server_options, nullptr, nullptr);
    return other->start();
  }
  std::unique_ptr<Server> other;
  const std::string path = socket.substr(5);
};

TEST_F(ListenTest, CommandsMayConnectAndToGrpcOnlyNodeDaemons) {
  const auto mode = [](const std::string& file) {
    struct stat status {};
    EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
    return status.st_mode & 0777;
  };
  start();
  EXPECT_EQ(mode(path), 0600u);
  EXPECT_EQ(mode(path + ".call"), 0666u);
  server->stop();
  server_options.node_users = {UserId(getuid() + 1)};
  start();
  EXPECT_EQ(mode(path), 0666u) << "the gate looks at who connects";
}

TEST_F(ListenTest, ADeletedSocketIsMadeAgain) {
  start();
  std::filesystem::remove(path);
  EXPECT_TRUE(eventually([&] { return std::filesystem::is_socket(path); }));
  const auto channel = make_channel(parse_address(socket).value(), Purpose::calls);
  EXPECT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + 10s));
}

TEST_F(ListenTest, ASocketOfAnotherIsLeftAlone) {
  std::atomic<int> told = 0;
  server_options.on_problem = [&](const std::string& text) {
    told += text.find("another process listens") != std::string::npos;
  };
  start();
  std::filesystem::remove(path);
  const auto rival = UnixListener::open(path, 0600);
  ASSERT_TRUE(rival) << rival.error().message;
  EXPECT_TRUE(eventually([&] { return told > 0; }));
  server->stop();
  EXPECT_TRUE(rival->is_reachable());
}

// One that never proves anything may not fill the controller's memory, by whole messages or by half ones.
TEST_F(ListenTest, AnUnprovenCallerIsCutBeforeItSendsMuch) {
  server_options.max_request_bytes = 1 << 20;
  start_on_tcp();
  const Address address = parse_address(server->addresses().front()).value();
  const auto stub = api::Ares::NewStub(make_channel(address, Purpose::calls));
  api::Sealed garbage, ignored;
  garbage.set_credential("none");
  garbage.set_payload(std::string(5 << 20, 'x'));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 10s);
  const grpc::Status status = stub->Call(&context, garbage, &ignored);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_TRUE(RpcTest::connect().call(ping(), Retry::never)) << "others go on";
}

TEST_F(ListenTest, TwoCannotListenOnOneSocket) {
  start();
  const Status second = try_start({socket});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
  EXPECT_NE(second.error().message.find("another process listens"), std::string::npos);
  EXPECT_TRUE(connect().call(ping())) << "the first goes on";
}

TEST_F(ListenTest, TwoCannotListenOnOnePort) {
  server_options.listen = {"tcp:127.0.0.1:0"};
  start();
  const Status second = try_start(server->addresses());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists) << second.error().message;
  EXPECT_TRUE(other->addresses().empty());
}

TEST_F(ListenTest, ReplacesASocketWithoutAListener) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  close(fd);  // as after kill -9
  start();
  EXPECT_TRUE(connect().call(ping()));
}

TEST_F(ListenTest, KeepsAFileThatIsNotASocket) {
  std::ofstream(path) << "precious";
  const Status started = try_start({socket});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::failed_precondition);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(ListenTest, ErrorsNameTheCause) {
  for (const auto& [address, text] : std::vector<std::pair<std::string, std::string>>{
           {"unix:" + directory.path() + "/no/such/dir", "No such file or directory"},
           {"tcp:203.0.113.7:0", "Cannot assign requested address"},
           {"unix:" + std::string(200, 'x'), "absolute"},
           {"unix:/" + std::string(200, 'x'), "102"}}) {
    const Status started = try_start({address});
    ASSERT_FALSE(started) << address;
    EXPECT_NE(started.error().message.find(text), std::string::npos) << started.error().message;
  }
  EXPECT_FALSE(try_start({}));
}

TEST_F(ListenTest, StopMayBeCalledTwiceAndRemovesTheSocket) {
  start();
  server->stop();
  server->stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ListenTest, RandomBytesOnTheSocketDoNotDisturbOtherCalls) {
  start();
  for (int i = 0; i < 50; ++i) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    const std::string noise(1 + static_cast<std::size_t>(i) * 100, static_cast<char>(i));
    EXPECT_GE(::send(fd, noise.data(), noise.size(), MSG_NOSIGNAL), 0);
    close(fd);
  }
  EXPECT_TRUE(RpcTest::connect().call(ping()));
}

TEST(Address, ParsesWhatItPrints) {
  for (const char* text : {"unix:/run/ares.sock", "tcp:127.0.0.1:7117", "tcp:head.example.org:1",
                           "tcp:[::1]:65535", "tcp:[2001:db8::7]:0"}) {
    auto address = parse_address(text);
    ASSERT_TRUE(address) << address.error().message;
    EXPECT_EQ(to_string(*address), text);
  }
}

TEST(Address, RefusesInvalidAddresses) {
  for (const char* text : {"", "unix", "unix:", "unix:run", "tcp:", "tcp:host",
                           "tcp:host:", "tcp::1", "tcp:host:65536", "tcp:host:-1", "tcp:host:1x",
                           "tcp:::1:7", "tcp:[]:1", "tcp:a b:1", "host:1", "UNIX:/x"}) {
    auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(address.error().message.find(std::string("\"") + text + "\""), std::string::npos);
  }
}

}  // namespace
}  // namespace ares::rpc
