// A server on its local socket, and clients that write what they like to it.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "auth/munge.h"
#include "rpc/wire/envelope.h"
#include "rpc/wire/local_frame.h"
#include "rpc/wire/socket.h"
#include "unit/rpc/rpc_fixture.h"

namespace ares::rpc {

inline void say(const Socket& client, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(client.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // closed by the server
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// A whole frame, or nothing at the end of the connection.
inline std::optional<std::pair<FrameHead, std::string>> hear(const Socket& client) {
  std::string bytes(kHeadBytes, '\0');
  if (::recv(client.fd(), bytes.data(), kHeadBytes, MSG_WAITALL) !=
      static_cast<ssize_t>(kHeadBytes))
    return std::nullopt;
  const auto head = read_head(bytes);
  if (!head) return std::nullopt;
  std::string body(head->size, '\0');
  if (head->size > 0 && ::recv(client.fd(), body.data(), body.size(), MSG_WAITALL) !=
                            static_cast<ssize_t>(body.size()))
    return std::nullopt;
  return std::pair(*head, body);
}

class LocalTest : public RpcTest {
 protected:
  std::string path() const { return socket.substr(5) + ".call"; }

  Socket open_socket() {
    Socket client = stream_socket(AF_UNIX);
    const sockaddr_un name = unix_name(path());
    EXPECT_EQ(::connect(client.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    return client;
  }

  // A request sealed as our client does it, with its own credential.
  std::string sealed(const api::Request& request) {
    const auth::SessionKey key = auth::SessionKey::random();
    api::Sealed message;
    message.set_credential(
        auth::munge_encode(key.to_credential_payload(), munged.socket(), UserId(getuid())).value());
    put_sealed(&message, key, auth::Direction::request, 0, 1, request.SerializeAsString());
    return message.SerializeAsString();
  }

  void expect_answers() { EXPECT_TRUE(connect().call(ping(), Retry::never)); }
};

}  // namespace ares::rpc
