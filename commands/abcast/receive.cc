#include "abcast/receive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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

// Takes the file as it comes, and knows at its end whether it is the right one.
class Copy {
 public:
  Copy(int fd, const Delivery& delivery) : fd_(fd), delivery_(delivery) {}
  Status add(std::string_view part) {
    // What announces more is not the file, and must not fill the disk.
    if (part.size() > delivery_.size - size_) return wrong("more than ");
    if (Status written = write_all(fd_, part); !written) return written;
    digest_.add(part);
    size_ += part.size();
    return {};
  }
  Status finish() {
    if (size_ == delivery_.size && digest_.hex() == delivery_.sha256) return {};
    return wrong("");
  }

 private:
  Status wrong(const std::string& more) const {
    return fail(ErrorCode::data_loss,
                "what arrived is not the file: " + more + std::to_string(size_) + " bytes of " +
                    std::to_string(delivery_.size) + "; it may have changed meanwhile");
  }

  int fd_;
  const Delivery& delivery_;
  auth::Sha256 digest_;
  std::uint64_t size_ = 0;
};

class Inflater {
 public:
  Inflater() : good_(::inflateInit(&stream_) == Z_OK) {}
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Status add(std::string_view part, Copy& copy) {
    std::string in(part);
    stream_.next_in = reinterpret_cast<unsigned char*>(in.data());
    stream_.avail_in = static_cast<uInt>(in.size());
    char out[kRead];
    while (good_ && !ended_) {
      stream_.next_out = reinterpret_cast<unsigned char*>(out);
      stream_.avail_out = sizeof out;
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_BUF_ERROR) return {};  // it needs more
      good_ = result == Z_OK || result == Z_STREAM_END;
      ended_ = result == Z_STREAM_END;
      if (Status added = copy.add({out, sizeof out - stream_.avail_out}); !added) return added;
    }
    if (good_ && stream_.avail_in == 0) return {};
    return fail(ErrorCode::data_loss, "what arrived is not compressed as it should be");
  }

 private:
  z_stream stream_{};
  bool good_;
  bool ended_ = false;
};

Status copy_input(int fd, const Delivery& delivery) {
  Copy copy(fd, delivery);
  Inflater inflater;
  for (char bytes[kRead];;) {
    const ssize_t n = ::read(0, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot read the file"));
    if (n == 0) return copy.finish();
    const std::string_view part(bytes, static_cast<std::size_t>(n));
    Status added = delivery.compressed ? inflater.add(part, copy) : copy.add(part);
    if (!added) return added;
  }
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

Result<Delivery> read_delivery(const std::vector<std::string>& words) {
  Delivery delivery;
  std::int64_t access = 0, change = 0;
  const bool times = words.size() == 8;
  if ((words.size() != 6 && !times) || words[0].empty() || !read_number(words[1], delivery.size) ||
      !read_number(words[3], delivery.mode) || (words[4] != "force" && words[4] != "new") ||
      (words[5] != "zlib" && words[5] != "plain") ||
      (times && (!read_number(words[6], access) || !read_number(words[7], change))))
    return fail(ErrorCode::invalid_argument, "this program is started by abcast(1)");
  delivery.destination = words[0];
  delivery.sha256 = words[2];
  delivery.force = words[4] == "force";
  delivery.compressed = words[5] == "zlib";
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

std::optional<std::string> path_to_remove(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "remove" && !words[1].empty()) return words[1];
  return std::nullopt;
}

Status remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail(os::errno_error("cannot remove " + path));
}

}  // namespace ares::abcast
