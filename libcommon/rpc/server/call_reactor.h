// A call that came by gRPC. Owned by gRPC until it is done. Private to rpc/.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "rpc/server/call_context.h"

namespace ares::rpc {

// The reactor of a new call; gRPC takes it from here.
grpc::ServerUnaryReactor* start_call(const CallContext& call_context,
                                     grpc::CallbackServerContext* context,
                                     const api::Sealed* request, api::Sealed* answer);

}  // namespace ares::rpc
