// One Attach on the server: a node daemon's session from its credential to its end.
// Owned by itself while gRPC knows it, then by whoever still holds the session. Private to rpc/.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstddef>
#include <vector>

#include "proto/gen/api.pb.h"
#include "rpc/server/authenticator.h"
#include "rpc/server/handlers.h"

namespace ares::rpc {

// What every node session needs; outlives them all.
struct AttachContext {
  Authenticator* authenticator;
  AttachHandler* handler;
  std::vector<UserId> users;  // who may attach
  std::size_t queue_messages;
  std::size_t queue_bytes;
};

grpc::ServerBidiReactor<api::Sealed, api::Sealed>* start_attach(
    const AttachContext& attach_context, grpc::CallbackServerContext* context);

}  // namespace ares::rpc
