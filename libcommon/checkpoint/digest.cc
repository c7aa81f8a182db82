#include "checkpoint/digest.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace ares::checkpoint {
namespace {

constexpr std::size_t kBlock = 1 << 20;

Error system_error(const std::string& what, int error = errno) {
  return {ErrorCode::failed_precondition, what + ": " + std::strerror(error)};
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Digest digest_of_text(std::string_view text) {
  Digest digest;
  static_assert(crypto_hash_sha256_BYTES == Digest{}.size());
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(text.data()),
                     text.size());
  return digest;
}

Result<FileDigest> digest_of_file(const std::string& path, bool sync) {
  // O_NONBLOCK: a pipe in its place would block otherwise.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.fd < 0) return fail(system_error("cannot read " + path));
  struct stat about {};
  if (::fstat(file.fd, &about) != 0) return fail(system_error("cannot read " + path));
  if (!S_ISREG(about.st_mode))
    return fail(ErrorCode::failed_precondition, path + " is not a regular file");
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  FileDigest result;
  const auto block = std::make_unique<unsigned char[]>(kBlock);
  std::int64_t size = 0;
  for (;;) {
    const ssize_t count = ::read(file.fd, block.get(), kBlock);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error("cannot read " + path));
    if (count == 0) break;
    crypto_hash_sha256_update(&state, block.get(), static_cast<unsigned long long>(count));
    size += count;
  }
  crypto_hash_sha256_final(&state, result.digest.data());
  result.size = Bytes(size);
  if (sync && ::fsync(file.fd) != 0) return fail(system_error("cannot write " + path));
  return result;
}

}  // namespace ares::checkpoint
