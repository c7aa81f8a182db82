// MUNGE credentials: the uid and gid of a sender, certified by munged of the sender's machine.
// Stateless functions; any thread. Both talk to munged and may block for some seconds if it
// hangs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace ares::auth {

struct Decoded {
  UserId uid;
  GroupId gid;
  std::string payload;
  std::string host;  // IPv4 address of the machine on which the credential was made
};

// `socket` is munged's socket, empty = the site's default. With `only_for`, no other user, not even
// root, can decode the credential.
// unavailable: munged does not answer; invalid_argument: payload too long; internal otherwise.
Result<std::string> munge_encode(std::string_view payload, const std::string& socket,
                                 std::optional<UserId> only_for = std::nullopt);

// A credential can be decoded once, within munged's time to live (five minutes).
// unauthenticated: forged, damaged, expired, replayed or meant for another user;
// unavailable: munged does not answer.
Result<Decoded> munge_decode(const std::string& credential, const std::string& socket);

}  // namespace ares::auth
