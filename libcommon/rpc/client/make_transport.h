// Selects the transport for an address. Any thread. Private to rpc/.
#pragma once

#include <memory>

#include "rpc/client/transport.h"

namespace ares::rpc {

// Unix sockets bypass gRPC, whose connect would take most of a command's run time.
std::unique_ptr<Transport> make_transport(const Address& address);

}  // namespace ares::rpc
