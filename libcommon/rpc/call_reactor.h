// One Call on the server: authenticate, open, hand on, answer.
// Owned by gRPC until it is done; the answer lives as long as somebody may still send it. Private to rpc/.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "auth/session_table.h"
#include "proto/gen/api.pb.h"
#include "rpc/door.h"
#include "rpc/server.h"

namespace ares::rpc {

// What every call needs; outlives them all.
struct CallDesk {
  Door* door;
  auth::SessionTable* sessions;
  const CallHandler* handler;
  std::size_t max_request_bytes;
};

// The reactor of a new call; gRPC takes it from here.
grpc::ServerUnaryReactor* start_call(const CallDesk& desk, grpc::CallbackServerContext* context,
                                     const api::Sealed* request, api::Sealed* answer);

Principal to_principal(const auth::Identity& identity);

}  // namespace ares::rpc
