// What must be so before gRPC may listen on an address, and why it could not.
// Functions that ask the system; any thread. Private to rpc/.
#pragma once

#include "base/result.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// A socket file that nobody answers on is removed; gRPC would replace any. already_exists: somebody
// answers; failed_precondition: the file is no socket.
Status clear_stale_socket(const Address& address);

// Lets every user connect: who they are is munge's business, not the file system's.
Status open_to_all(const Address& address);

// Tries to bind the address, for the reason that gRPC does not give.
Error why_not_listening(const Address& address);

}  // namespace ares::rpc
