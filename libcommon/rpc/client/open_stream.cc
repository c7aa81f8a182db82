#include "rpc/client/open_stream.h"

#include "rpc/client/grpc_stream.h"
#include "rpc/client/local_stream.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

Result<std::unique_ptr<Stream>> open_stream(const ClientOptions& options, std::size_t address,
                                            api::Request request, int interrupt) {
  if (options.addresses.empty())
    return fail(ErrorCode::invalid_argument,
                "no controller to connect to; set controller.connect in ares.yaml");
  const auto parsed = parse_address(options.addresses[address % options.addresses.size()]);
  if (!parsed) return fail(parsed.error());
  request.set_request_id(new_request_id());
  request.set_client_version(ARES_VERSION);
  const std::string payload = request.SerializeAsString();
  if (parsed->kind == Address::Kind::unix_socket)
    return LocalStream::open(options, *parsed, payload);
  return GrpcStream::open(options, *parsed, payload, interrupt);
}

}  // namespace ares::rpc
