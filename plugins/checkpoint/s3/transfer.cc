#include "checkpoint/s3/transfer.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "node/checkpoint_fields.h"
#include "os/fd.h"

namespace ares::checkpoint::s3 {
namespace {

constexpr std::uint64_t kMostParts = 10'000;
constexpr std::uint64_t kMebibyte = 1 << 20;

class Sha256 {
 public:
  Sha256() { crypto_hash_sha256_init(&state_); }
  void add(std::string_view bytes) {
    crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                              bytes.size());
  }
  Digest finish() {
    Digest digest;
    crypto_hash_sha256_final(&state_, digest.data());
    return digest;
  }

 private:
  crypto_hash_sha256_state state_;
};

// Reads exactly `size` bytes, or fewer at the end of the file.
Result<std::string> read_part(int fd, std::size_t size, const std::string& path) {
  std::string part(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = ::read(fd, part.data() + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(os::errno_error("cannot read " + path));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  part.resize(filled);
  return part;
}

tl::unexpected<Error> changed(const std::string& path) {
  return fail(ErrorCode::failed_precondition,
              path + " was changed while it was being published; commit it again");
}

Status upload_parts(Client& client, int fd, const std::string& path, const ObjectName& object,
                    const FileDigest& known, const std::string& id) {
  const auto size = static_cast<std::uint64_t>(known.size.value());
  const std::size_t part_size = part_size_of(size, client.settings().part_size);
  Sha256 whole;
  std::vector<std::string> etags;
  for (std::uint64_t done = 0; done < size;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(part_size, size - done));
    const Result<std::string> part = read_part(fd, wanted, path);
    if (!part) return fail(part.error());
    if (part->size() != wanted) return changed(path);
    whole.add(*part);
    const Result<std::string> etag =
        client.put_part(object, id, etags.size() + 1, *part, node::hex_of(digest_of_text(*part)));
    if (!etag) return fail(etag.error());
    etags.push_back(*etag);
    done += wanted;
  }
  if (whole.finish() != known.digest) return changed(path);
  return client.complete_parts(object, id, etags);
}

}  // namespace

std::size_t part_size_of(std::uint64_t file_size, std::size_t wanted) {
  const std::uint64_t least = (file_size + kMostParts - 1) / kMostParts;
  const std::uint64_t rounded = (least + kMebibyte - 1) / kMebibyte * kMebibyte;
  return static_cast<std::size_t>(std::max<std::uint64_t>(wanted, rounded));
}

Status upload(Client& client, const std::string& path, const ObjectName& object,
              const FileDigest& known) {
  // O_NONBLOCK: a pipe in its place would block otherwise.
  const os::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return fail(os::errno_error("cannot read " + path));
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return fail(os::errno_error("cannot read " + path));
  if (!S_ISREG(about.st_mode) || about.st_size != known.size.value()) return changed(path);
  if (static_cast<std::uint64_t>(about.st_size) <= client.settings().part_size) {
    const Result<std::string> all =
        read_part(file.get(), static_cast<std::size_t>(about.st_size), path);
    if (!all) return fail(all.error());
    if (digest_of_text(*all) != known.digest) return changed(path);
    return client.put(object, *all, node::hex_of(known.digest));
  }
  const Result<std::string> id = client.begin_parts(object);
  if (!id) return fail(id.error());
  Status done = upload_parts(client, file.get(), path, object, known, *id);
  if (!done) (void)client.abort_parts(object, *id);
  return done;
}

Status download(Client& client, const ObjectName& object, const FileDigest& known,
                const std::function<Status(std::string_view)>& take) {
  const auto size = static_cast<std::uint64_t>(known.size.value());
  const auto damaged = [&](const char* how) {
    return fail(ErrorCode::data_loss,
                "s3://" + object.bucket + "/" + object.key + " is damaged: " + how);
  };
  if (size == 0) {
    const Result<std::string> all = client.get(object, 1);
    if (!all && all.error().code == ErrorCode::failed_precondition)
      return damaged("it has another size");
    if (!all) return fail(all.error());
    return all->empty() ? Status() : damaged("it has another size");
  }
  Sha256 whole;
  for (std::uint64_t done = 0; done < size;) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(client.settings().part_size, size - done));
    const Result<std::string> part = client.get_part(object, done, wanted, size);
    if (!part) return fail(part.error());
    whole.add(*part);
    if (Status taken = take(*part); !taken) return taken;
    done += wanted;
  }
  if (whole.finish() != known.digest) return damaged("its SHA-256 is another one");
  return {};
}

}  // namespace ares::checkpoint::s3
