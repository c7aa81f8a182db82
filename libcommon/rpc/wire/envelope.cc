#include "rpc/wire/envelope.h"

#include <utility>

namespace ares::rpc {

void put_sealed(api::Sealed* out, const auth::SessionKey& key, auth::Direction direction,
                std::uint64_t session, std::uint64_t sequence, std::string payload) {
  out->set_session(session);
  out->set_sequence(sequence);
  out->set_mac(auth::seal(key, direction, session, sequence, payload));
  out->set_payload(std::move(payload));
}

}  // namespace ares::rpc
