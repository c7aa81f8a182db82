// A call through gRPC. Owned by gRPC until it is done. Private to rpc/.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "rpc/server/call_context.h"

namespace ares::rpc {

// Creates the reactor of a new call; gRPC owns it.
grpc::ServerUnaryReactor* start_call(const CallContext& call_context,
                                     grpc::CallbackServerContext* context,
                                     const api::Sealed* request, api::Sealed* answer);

}  // namespace ares::rpc
