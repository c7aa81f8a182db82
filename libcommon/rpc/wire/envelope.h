// The sealed envelope of every message.
// Pure functions; any thread. Private to rpc/.
#pragma once

#include <cstdint>
#include <string>

#include "auth/seal.h"
#include "proto/gen/api.pb.h"

namespace ares::rpc {

// Sets session, sequence, payload and mac.
void put_sealed(api::Sealed* out, const auth::SessionKey& key, auth::Direction direction,
                std::uint64_t session, std::uint64_t sequence, std::string payload);

}  // namespace ares::rpc
