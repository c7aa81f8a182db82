// The transport that an address calls for. Any thread. Private to rpc/.
#pragma once

#include <memory>

#include "rpc/client/transport.h"

namespace ares::rpc {

// Calls to a Unix socket go past gRPC: connecting by it costs a command more than all the rest of what it does.
std::unique_ptr<Transport> make_transport(const Address& address);

}  // namespace ares::rpc
