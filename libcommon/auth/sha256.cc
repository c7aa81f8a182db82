#include "auth/sha256.h"

#include <sodium.h>

#include "auth/shared_key.h"
#include "auth/sodium.h"

namespace ares::auth {

struct Sha256::State {
  crypto_hash_sha256_state hash;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  ensure_sodium();
  crypto_hash_sha256_init(&state_->hash);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  crypto_hash_sha256_update(&state_->hash, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
}

std::string Sha256::hex() {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state_->hash, digest);
  return to_hex({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace ares::auth
