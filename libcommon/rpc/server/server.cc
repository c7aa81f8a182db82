#include "rpc/server/server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <utility>

#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/channel.h"
#include "rpc/server/authenticator.h"
#include "rpc/server/call_reactor.h"
#include "rpc/server/listen.h"
#include "rpc/server/local_server.h"
#include "rpc/server/node_stream.h"
#include "rpc/wire/address.h"

namespace ares::rpc {
namespace {

// Allows for the envelope, so that slightly too large requests get our own error message.
constexpr std::size_t kEnvelope = 64 << 10;

class Service final : public api::Ares::CallbackService {
 public:
  Service(CallContext calls, AttachContext nodes) : calls_(calls), nodes_(std::move(nodes)) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context, const api::Sealed* request,
                                 api::Sealed* answer) override {
    return start_call(calls_, context, request, answer);
  }
  grpc::ServerBidiReactor<api::Sealed, api::Sealed>* Attach(
      grpc::CallbackServerContext* context) override {
    return start_attach(nodes_, context);
  }

 private:
  const CallContext calls_;
  const AttachContext nodes_;
};

// gRPC wants addresses to listen on without a scheme.
std::string listen_target(const Address& address) {
  const std::string text = to_string(address);
  return address.kind == Address::Kind::tcp ? text.substr(text.find(':') + 1) : text;
}

std::vector<UserId> with_root_and_self(std::vector<UserId> users) {
  users.push_back(UserId(0));
  users.push_back(UserId(geteuid()));
  return users;
}

void set_arguments(grpc::ServerBuilder& builder, const ServerOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_request_bytes + kEnvelope));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two controllers must not share a port
  // Detects within a minute that a node's machine has failed.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
}

}  // namespace

struct Server::State {
  ServerOptions options;
  CallHandler call;
  AttachHandler* attach;
  auth::SessionTable sessions;
  std::vector<Address> addresses;
  // In this order: the service uses the authenticator and must be destroyed before it.
  std::unique_ptr<Authenticator> authenticator;
  std::unique_ptr<LocalServer> local;
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::Server> server;

  State(ServerOptions o, CallHandler c, AttachHandler* a)
      : options(std::move(o)),
        call(std::move(c)),
        attach(a),
        sessions({options.max_sessions, options.max_sessions_per_user, options.session_idle}) {}

  Status listen();
};

void Responder::refuse(Error error) {
  api::Response response;
  response.mutable_failure()->set_code(static_cast<int>(error.code));
  response.mutable_failure()->set_message(std::move(error.message));
  send(std::move(response));
}

Server::Server(ServerOptions options, CallHandler call, AttachHandler* attach)
    : state_(std::make_unique<State>(std::move(options), std::move(call), attach)) {}

Server::~Server() {
  stop();
}

Status Server::start() {
  State& s = *state_;
  prepare_libraries();
  std::vector<Address> wanted;
  for (const std::string& text : s.options.listen) {
    auto address = parse_address(text);
    if (!address) return fail(std::move(address.error()));
    if (auto clear = clear_stale_socket(*address); !clear) return clear;
    wanted.push_back(std::move(*address));
  }
  if (wanted.empty())
    return fail(ErrorCode::invalid_argument,
                "no address to listen on; set controller.listen in ares.yaml");
  s.addresses = std::move(wanted);
  Status listening = s.listen();
  if (!listening) stop();
  return listening;
}

Status Server::State::listen() {
  authenticator = std::make_unique<Authenticator>(options.munge_socket, options.authenticators,
                                                  options.user_name);
  const CallContext call_context{authenticator.get(), &sessions, &call, options.max_request_bytes};
  local = std::make_unique<LocalServer>(call_context);
  service = std::make_unique<Service>(
      call_context,
      AttachContext{authenticator.get(), attach, with_root_and_self(options.node_users),
                    options.node_queue_messages, options.node_queue_bytes});
  grpc::ServerBuilder builder;
  set_arguments(builder, options);
  std::vector<int> ports(addresses.size(), 0);
  for (std::size_t i = 0; i < addresses.size(); ++i)
    builder.AddListeningPort(listen_target(addresses[i]), grpc::InsecureServerCredentials(),
                             &ports[i]);
  builder.RegisterService(service.get());
  server = builder.BuildAndStart();
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (ports[i] == 0) return fail(why_not_listening(addresses[i]));
  if (!server) return fail(ErrorCode::internal, "gRPC did not start");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].kind == Address::Kind::tcp)
      addresses[i].port = static_cast<std::uint16_t>(ports[i]);
    if (auto open = open_to_all(addresses[i]); !open) return open;
    if (addresses[i].kind == Address::Kind::unix_socket)
      if (auto calls = local->listen(addresses[i]); !calls) return calls;
  }
  return local->start();
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> texts;
  if (!state_->server) return texts;
  for (const Address& address : state_->addresses) texts.push_back(to_string(address));
  return texts;
}

void Server::stop() {
  State& s = *state_;
  // Cancels all calls in flight, which end as unavailable; waits until gRPC has none left.
  if (s.local) s.local->stop();
  if (s.server) s.server->Shutdown(std::chrono::system_clock::now());
  if (s.authenticator) s.authenticator->stop();
  s.server.reset();
  s.service.reset();
  s.local.reset();
  s.authenticator.reset();
}

}  // namespace ares::rpc
