// One Attach on the server: a node daemon's session from its credential to its end.
// Owned by itself until gRPC is done with it, then by the last holder of the session.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstddef>
#include <vector>

#include "proto/gen/api.pb.h"
#include "rpc/server/authenticator.h"
#include "rpc/server/handlers.h"

namespace ares::rpc {

// What all node sessions need; outlives them.
struct AttachContext {
  Authenticator* authenticator;
  AttachHandler* handler;
  std::vector<UserId> users;  // users that may attach
  std::size_t queue_messages;
  std::size_t queue_bytes;
};

grpc::ServerBidiReactor<api::Sealed, api::Sealed>* start_attach(
    const AttachContext& attach_context, grpc::CallbackServerContext* context);

}  // namespace ares::rpc
