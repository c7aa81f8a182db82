// A stream through gRPC, from a controller on another machine. Owned by a command; one thread. Private to rpc/.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proto/gen/api.pb.h"
#include "rpc/client/stream.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

class GrpcStream final : public Stream {
 public:
  static Result<std::unique_ptr<Stream>> open(const ClientOptions& options, const Address& address,
                                              const std::string& payload, int interrupt);
  ~GrpcStream() override;
  int fd() const override;

 private:
  class Reader;
  explicit GrpcStream(std::unique_ptr<Reader> reader);
  Result<std::optional<api::Sealed>> receive() override;

  std::unique_ptr<Reader> reader_;
};

}  // namespace ares::rpc
