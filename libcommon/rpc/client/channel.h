// Where gRPC's world meets ours: channels to an address, statuses to errors and back.
// Pure functions; any thread. Private to rpc/: included by few .cc files, for gRPC's headers are heavy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include "base/result.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// gRPC's and protobuf's own log lines go to stderr, where they would puzzle users, or let anybody
// fill a daemon's log; the errors say the same. They stay if the environment sets GRPC_VERBOSITY.
// Also turns off what only debugs Abseil. Call it before anything of gRPC's is made.
void prepare_libraries();

enum class Purpose : std::uint8_t { calls, node_link };

// A connection of its own, made at first use: no sharing with other channels to the same place,
// whose back-off it would inherit.
std::shared_ptr<grpc::Channel> make_channel(const Address& address, Purpose purpose);

// gRPC's notation of an address to connect to.
std::string grpc_target(const Address& address);

grpc::Status to_status(const Error& error);

// `peer` is named in the text of what comes from the transport, not from the other side.
Error to_error(const grpc::Status& status, const std::string& peer);

}  // namespace ares::rpc
