// Preparations for gRPC to listen on an address, and the reason if it cannot.
// Functions that make system calls; any thread. Private to rpc/.
#pragma once

#include "base/result.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// Removes a socket file without a listener; gRPC would replace any file. already_exists: there is a
// listener; failed_precondition: the file is not a socket.
Status clear_stale_socket(const Address& address);

// Permits every user to connect: munge authenticates users, not file permissions.
Status open_to_all(const Address& address);

// Tries to bind the address to find the reason of a failure, which gRPC does not report.
Error why_not_listening(const Address& address);

}  // namespace ares::rpc
