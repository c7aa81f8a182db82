// A call by Stream through gRPC. Owned by gRPC until it is done. Private to rpc/.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "rpc/server/call_context.h"

namespace ares::rpc {

// Creates the reactor of a new stream; gRPC owns it.
grpc::ServerWriteReactor<api::Sealed>* start_stream(const CallContext& call_context,
                                                    grpc::CallbackServerContext* context,
                                                    const api::Sealed* request);

}  // namespace ares::rpc
