// A stream through a controller's local socket. Owned by a command; one thread. Private to rpc/.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proto/gen/api.pb.h"
#include "rpc/client/stream.h"
#include "rpc/wire/address.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

class LocalStream final : public Stream {
 public:
  static Result<std::unique_ptr<Stream>> open(const ClientOptions& options, const Address& address,
                                              const std::string& payload);
  int fd() const override { return socket_.fd(); }

 private:
  LocalStream(ClientOptions options, std::string peer, std::string payload, Socket socket)
      : options_(std::move(options)),
        peer_(std::move(peer)),
        payload_(std::move(payload)),
        socket_(std::move(socket)) {}
  Result<std::optional<api::Sealed>> receive() override;
  Result<std::optional<api::Sealed>> take_frame();
  Status send(const api::Sealed& request);
  Status sign_and_send();
  Error unavailable(const std::string& why) const;

  const ClientOptions options_;
  const std::string peer_;
  const std::string payload_;
  Socket socket_;
  std::string input_;  // not yet taken
  std::uint32_t call_ = 0;
  bool closed_ = false;  // by the server
};

}  // namespace ares::rpc
