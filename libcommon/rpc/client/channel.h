// Interface to gRPC: channels to an address, conversion between statuses and errors.
// Pure functions; any thread. Private to rpc/: few .cc files include it, gRPC's headers are large.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include "base/result.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// Silences the log of gRPC and protobuf on stderr, which would confuse users or let any client
// fill a daemon's log; the errors contain the same. Not if the environment sets GRPC_VERBOSITY.
// Also turns off Abseil's deadlock detection. Call it before creating any gRPC object.
void prepare_libraries();

enum class Purpose : std::uint8_t { calls, node_link };

// A separate connection, made at first use. It is not shared with other channels to the same
// address, because it would inherit their back-off.
std::shared_ptr<grpc::Channel> make_channel(const Address& address, Purpose purpose);

// Address in gRPC's notation, for connecting.
std::string grpc_target(const Address& address);

grpc::Status to_status(const Error& error);

// `peer` is named in errors of the transport, not in those that the other side sent.
Error to_error(const grpc::Status& status, const std::string& peer);

}  // namespace ares::rpc
