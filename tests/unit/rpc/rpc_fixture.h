// A munged, owned by the test, and a server on a Unix socket that answers as the test
// specifies.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "unit/auth/munged.h"

namespace ares::rpc {

using testing::eventually;
using namespace std::chrono_literals;

class RpcTest : public ::testing::Test {
 protected:
  struct Seen {
    Principal caller;
    api::Request request;
    std::string peer;
  };

  // Answers every request with its id, unless the test sets another answer.
  void handle(Principal caller, api::Request request, std::shared_ptr<Responder> responder) {
    const std::string id = request.request_id();
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back({std::move(caller), request, responder->peer()});
    }
    if (answer) return answer(request, std::move(responder));
    api::Response response;
    response.mutable_acted()->set_text(id);
    responder->send(std::move(response));
  }

  void start(AttachHandler* nodes = nullptr) {
    server = std::make_unique<Server>(
        server_options,
        [this](Principal caller, api::Request request, std::shared_ptr<Responder> responder) {
          handle(std::move(caller), std::move(request), std::move(responder));
        },
        nodes);
    const Status started = server->start();
    ASSERT_TRUE(started) << started.error().message;
  }

  // By TCP, where a credential is needed: on a Unix socket the system says who calls.
  void start_on_tcp() {
    server_options.listen = {"tcp:127.0.0.1:0"};
    start();
    client_options.addresses = server->addresses();
  }

  RpcTest() {
    server_options.listen = {socket};
    server_options.munge_socket = munged.socket();
    client_options.addresses = {socket};
    client_options.munge_socket = munged.socket();
    client_options.server_uid = UserId(getuid());
    client_options.first_delay = 10ms;
    client_options.max_delay = 100ms;
  }

  // Its threads use what the test owns.
  ~RpcTest() override { server.reset(); }

  Client connect() { return Client::open(client_options).value(); }

  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  testing::Munged munged;
  testing::TemporaryDirectory directory;
  const std::string socket = "unix:" + directory.path() + "/s";
  ServerOptions server_options;
  ClientOptions client_options;
  std::function<void(const api::Request&, std::shared_ptr<Responder>)> answer;
  std::unique_ptr<Server> server;

 private:
  std::mutex mutex_;
  std::vector<Seen> seen_;
};

// For tests that call over TCP. ThreadSanitizer leaves them out by this name (contrib/test.sh says why).
class TcpTest : public RpcTest {};

inline api::Request ping() {
  api::Request request;
  request.mutable_ping();
  return request;
}

}  // namespace ares::rpc
