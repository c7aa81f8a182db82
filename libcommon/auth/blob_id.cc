#include "auth/blob_id.h"

#include <sodium.h>

#include "auth/sodium.h"

namespace ares::auth {

BlobDigest blob_id(std::string_view content) {
  ensure_sodium();
  static_assert(crypto_hash_sha256_BYTES == BlobDigest{}.size());
  BlobDigest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(content.data()),
                     content.size());
  return digest;
}

}  // namespace ares::auth
