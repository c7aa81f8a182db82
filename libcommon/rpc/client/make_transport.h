// Selects the transport for an address. Any thread. Private to rpc/.
#pragma once

#include <memory>

#include "base/ids.h"
#include "rpc/client/transport.h"

namespace ares::rpc {

// Unix sockets bypass gRPC, whose connect would take most of a command's run time.
// `server_uid` is the controller's user.
std::unique_ptr<Transport> make_transport(const Address& address, UserId server_uid);

}  // namespace ares::rpc
