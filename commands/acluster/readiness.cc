#include "acluster/readiness.h"

#include <unistd.h>

#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::acluster {

Result<ControllerStatus> ping(const Layout& layout) {
  rpc::ClientOptions options;
  options.addresses = {"unix:" + layout.controller_socket};
  options.munge_socket = layout.munge_socket;
  options.server_uid = UserId(::geteuid());
  options.timeout = std::chrono::milliseconds(2000);
  auto client = rpc::Client::open(std::move(options));
  if (!client) return fail(client.error());
  api::Request request;
  request.mutable_ping();
  const auto response = client->call(std::move(request), rpc::Retry::never);
  if (!response) return fail(response.error());
  const api::Pong& pong = response->pong();
  return ControllerStatus{pong.state(), pong.nodes(), pong.nodes_responding()};
}

}  // namespace ares::acluster
