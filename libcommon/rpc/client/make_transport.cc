#include "rpc/client/make_transport.h"

#include "rpc/client/grpc_transport.h"
#include "rpc/client/local_transport.h"

namespace ares::rpc {

std::unique_ptr<Transport> make_transport(const Address& address, UserId server_uid) {
  if (address.kind == Address::Kind::unix_socket)
    return std::make_unique<LocalTransport>(address, server_uid);
  return std::make_unique<GrpcTransport>(address);
}

}  // namespace ares::rpc
