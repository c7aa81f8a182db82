// The session of a stream. A plain value, owned by the stream. Private to rpc/.
#pragma once

#include <cstdint>

#include "auth/seal.h"

namespace ares::rpc {

struct StreamSeal {
  auth::SessionKey key;
  std::uint64_t session = 0;   // as the server numbered it in the first part
  std::uint64_t received = 0;  // parts
};

}  // namespace ares::rpc
