#include "rpc/server/server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <utility>

#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/channel.h"
#include "rpc/server/admission.h"
#include "rpc/server/authenticator.h"
#include "rpc/server/call_reactor.h"
#include "rpc/server/gate.h"
#include "rpc/server/limits.h"
#include "rpc/server/local_server.h"
#include "rpc/server/node_stream.h"
#include "rpc/server/problems.h"
#include "rpc/server/stream_reactor.h"
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
  grpc::ServerWriteReactor<api::Sealed>* Stream(grpc::CallbackServerContext* context,
                                                const api::Sealed* request) override {
    return start_stream(calls_, context, request);
  }

 private:
  const CallContext calls_;
  const AttachContext nodes_;
};

constexpr std::size_t kGrpcBytes = 1u << 30;  // beyond, gRPC slows down and breaks calls off
constexpr int kStreamsPerConnection = 100;

std::vector<UserId> with_root_and_self(std::vector<UserId> users) {
  users.push_back(UserId(0));
  users.push_back(UserId(geteuid()));
  return users;
}

// The admission bounds what each caller can make gRPC keep; the quota bounds all of it together.
void set_arguments(grpc::ServerBuilder& builder, const ServerOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_request_bytes + kEnvelope));
  builder.SetMaxSendMessageSize(-1);
  builder.SetResourceQuota(grpc::ResourceQuota("ares").Resize(kGrpcBytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  // Detects within a minute that a node's machine has failed.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
}

LocalLimits local_limits(const ConnectionLimits& connections) {
  LocalLimits limits;
  limits.connections = connections.local;
  limits.connections_per_user = connections.local_per_user;
  limits.unbounded = with_root_and_self({});
  return limits;
}

AdmissionLimits admission_limits(const ConnectionLimits& connections,
                                 const ServerOptions& options) {
  AdmissionLimits limits;
  limits.unproven = connections.unproven;
  limits.unproven_per_address = connections.unproven_per_address;
  limits.connections_per_user = connections.tcp_per_user;
  // Twice as much as is accepted still gets an answer that says so.
  limits.max_message_bytes = 2 * (options.max_request_bytes + kEnvelope);
  return limits;
}

}  // namespace

struct Server::State {
  ServerOptions options;
  CallHandler call;
  AttachHandler* attach;
  auth::SessionTable sessions;
  Problems problems;
  std::vector<Address> addresses;
  // In this order, so that each outlives those that use it.
  std::unique_ptr<Authenticator> authenticator;
  std::unique_ptr<Admission> admission;
  std::unique_ptr<LocalServer> local;
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Gate> gate;

  State(ServerOptions o, CallHandler c, AttachHandler* a)
      : options(std::move(o)),
        call(std::move(c)),
        attach(a),
        sessions({options.max_sessions, options.max_sessions_per_user, options.session_idle}),
        problems(options.on_problem) {}

  Status listen();
  Status serve();
};

void Responder::refuse(Error error) {
  api::Response response;
  response.mutable_failure()->set_code(static_cast<int>(error.code));
  response.mutable_failure()->set_message(std::move(error.message));
  send(std::move(response));
}

void Responder::send_part(api::Response, Taken taken) {
  taken(false);
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
    wanted.push_back(std::move(*address));
  }
  if (wanted.empty())
    return fail(ErrorCode::invalid_argument,
                "no address to listen on; set controller.listen in ares.yaml");
  s.addresses = std::move(wanted);
  Status listening = s.listen();
  if (listening) listening = s.serve();
  if (!listening) stop();
  return listening;
}

Status Server::State::listen() {
  const ConnectionLimits limits = connection_limits(descriptor_limit());
  const std::vector<UserId> node_users = with_root_and_self(options.node_users);
  authenticator = std::make_unique<Authenticator>(options.munge_socket, options.authenticators,
                                                  options.user_name);
  admission = std::make_unique<Admission>(admission_limits(limits, options), node_users, problems);
  CallContext call_context{authenticator.get(), &sessions, &call, options.max_request_bytes};
  local = std::make_unique<LocalServer>(call_context, local_limits(limits), limits, problems);
  call_context.admission = admission.get();
  service = std::make_unique<Service>(
      call_context,
      AttachContext{authenticator.get(), attach, node_users, options.node_queue_messages,
                    options.node_queue_bytes, admission.get()});
  gate = std::make_unique<Gate>(GateOptions{limits, node_users, !options.node_users.empty()},
                                *admission, problems);
  for (Address& address : addresses) {
    if (auto listening = gate->listen(address); !listening) return listening;
    if (address.kind == Address::Kind::unix_socket)
      if (auto calls = local->listen(address); !calls) return calls;
  }
  return {};
}

Status Server::State::serve() {
  using From = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  grpc::ServerBuilder builder;
  set_arguments(builder, options);
  acceptor = builder.experimental().AddExternalConnectionAcceptor(
      From::FROM_FD, grpc::InsecureServerCredentials());
  builder.RegisterService(service.get());
  server = builder.BuildAndStart();
  if (!server) return fail(ErrorCode::internal, "gRPC did not start");
  auto open = gate->start([this](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  });
  if (!open) return open;
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
  if (s.gate) s.gate->stop();
  if (s.server) s.server->Shutdown(std::chrono::system_clock::now());
  if (s.authenticator) s.authenticator->stop();
  s.server.reset();
  s.acceptor.reset();
  s.service.reset();
  s.local.reset();
  s.gate.reset();
  s.admission.reset();
  s.authenticator.reset();
}

}  // namespace ares::rpc
