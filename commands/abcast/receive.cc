#include "abcast/receive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "auth/sha256.h"
#include "auth/shared_key.h"
#include "os/fd.h"

namespace ares::abcast {
namespace {

constexpr std::size_t kRead = std::size_t{1} << 16;
constexpr std::size_t kNameBytes = 8;

template <class T>
bool read_number(std::string_view text, T& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// A file that has no name until it is whole, where the file system can do that.
struct Unnamed {
  os::Fd fd;
  std::string name;  // empty: it has none
};

Result<Unnamed> make_file(const std::string& destination) {
  const std::string folder = folder_of(destination);
  Unnamed made;
  made.fd.reset(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (made.fd) return made;
  const int error = errno;
  if (error != EOPNOTSUPP && error != EISDIR)
    return fail(os::errno_error("cannot write to " + folder, error));
  made.name = destination + ".ares-" + auth::to_hex(auth::random_bytes(kNameBytes));
  made.fd.reset(::open(made.name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!made.fd) return fail(os::errno_error("cannot create " + made.name));
  return made;
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot write the file"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status copy_input(int fd, const Delivery& delivery) {
  auth::Sha256 digest;
  std::uint64_t size = 0;
  for (char bytes[kRead];;) {
    const ssize_t n = ::read(0, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot read the file"));
    if (n == 0) break;
    const std::string_view part(bytes, static_cast<std::size_t>(n));
    if (Status written = write_all(fd, part); !written) return written;
    digest.add(part);
    size += part.size();
  }
  if (size != delivery.size || digest.hex() != delivery.sha256)
    return fail(ErrorCode::data_loss, "what arrived is not the file: " + std::to_string(size) +
                                          " bytes of " + std::to_string(delivery.size) +
                                          "; it may have changed meanwhile");
  return {};
}

Status finish(int fd, const Delivery& delivery) {
  if (::fchmod(fd, delivery.mode & 07777) != 0)
    return fail(os::errno_error("cannot set the file's mode"));
  if (delivery.access && delivery.change) {
    const timespec times[2] = {{*delivery.access, 0}, {*delivery.change, 0}};
    if (::futimens(fd, times) != 0) return fail(os::errno_error("cannot set the file's times"));
  }
  if (::fsync(fd) != 0) return fail(os::errno_error("cannot write the file"));
  return {};
}

Status give_name(Unnamed& file, const std::string& name) {
  const std::string self = "/proc/self/fd/" + std::to_string(file.fd.get());
  const int linked = file.name.empty() ? ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(),
                                                  AT_SYMLINK_FOLLOW)
                                       : ::link(file.name.c_str(), name.c_str());
  if (linked == 0) return {};
  if (errno == EEXIST)
    return fail(ErrorCode::already_exists, name + " exists; --force replaces it");
  return fail(os::errno_error("cannot create " + name));
}

Status publish(Unnamed& file, const Delivery& delivery) {
  if (!delivery.force) return give_name(file, delivery.destination);
  if (file.name.empty()) {
    const std::string name =
        delivery.destination + ".ares-" + auth::to_hex(auth::random_bytes(kNameBytes));
    if (Status named = give_name(file, name); !named) return named;
    file.name = name;
  }
  if (::rename(file.name.c_str(), delivery.destination.c_str()) != 0)
    return fail(os::errno_error("cannot replace " + delivery.destination));
  file.name.clear();
  return {};
}

}  // namespace

std::vector<std::string> words_of(const Delivery& delivery) {
  std::vector<std::string> words = {delivery.destination, std::to_string(delivery.size),
                                    delivery.sha256, std::to_string(delivery.mode),
                                    delivery.force ? "force" : "new"};
  if (delivery.access && delivery.change) {
    words.push_back(std::to_string(*delivery.access));
    words.push_back(std::to_string(*delivery.change));
  }
  return words;
}

Result<Delivery> read_delivery(const std::vector<std::string>& words) {
  Delivery delivery;
  std::int64_t access = 0, change = 0;
  const bool times = words.size() == 7;
  if ((words.size() != 5 && !times) || words[0].empty() || !read_number(words[1], delivery.size) ||
      !read_number(words[3], delivery.mode) || (words[4] != "force" && words[4] != "new") ||
      (times && (!read_number(words[5], access) || !read_number(words[6], change))))
    return fail(ErrorCode::invalid_argument, "this program is started by abcast(1)");
  delivery.destination = words[0];
  delivery.sha256 = words[2];
  delivery.force = words[4] == "force";
  if (times) {
    delivery.access = access;
    delivery.change = change;
  }
  return delivery;
}

Status receive(const Delivery& delivery) {
  struct stat there {};
  if (!delivery.force && ::lstat(delivery.destination.c_str(), &there) == 0)
    return fail(ErrorCode::already_exists, delivery.destination + " exists; --force replaces it");
  Result<Unnamed> file = make_file(delivery.destination);
  if (!file) return fail(file.error());
  Status done = copy_input(file->fd.get(), delivery);
  if (done) done = finish(file->fd.get(), delivery);
  if (done) done = publish(*file, delivery);
  if (!file->name.empty()) ::unlink(file->name.c_str());
  return done;
}

}  // namespace ares::abcast
