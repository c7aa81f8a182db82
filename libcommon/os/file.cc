#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace ares::os {
namespace {

Status write_all(int fd, std::string_view text, const std::string& what) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(what));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> read_all(int fd, const std::string& what) {
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(what));
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

// Renames `from` to `to` unless `to` exists.
int rename_if_absent(int dir, const char* from, const char* to) {
  if (::syscall(SYS_renameat2, dir, from, dir, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (::linkat(dir, from, dir, to, 0) != 0) return -1;  // file systems without RENAME_NOREPLACE
  ::unlinkat(dir, from, 0);
  return 0;
}

std::string reserved_name(std::string_view name) {
  return "." + std::string(name) + ".reserved";
}

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

std::vector<std::string> entries(DIR* dir) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

Status remove_entry(int parent, const std::string& name, const std::string& path, int depth) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return fail(errno_error("cannot remove " + path));
  if (depth == 0) return fail(ErrorCode::internal, "cannot remove " + path + ": nested too deep");
  const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return fail(errno_error("cannot remove " + path));
  std::unique_ptr<DIR, CloseDir> dir(::fdopendir(fd));
  const std::vector<std::string> names = entries(dir.get());
  for (const std::string& entry : names)
    if (Status s = remove_entry(fd, entry, path + "/" + entry, depth - 1); !s) return s;
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return fail(errno_error("cannot remove " + path));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error("cannot read " + path));
  return read_all(fd.get(), "cannot read " + path);
}

Status replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  const std::string what = "cannot write " + path;
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error(what));
  if (Status s = write_all(fd.get(), text, what); !s) return s;
  if (::fsync(fd.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(errno_error(what));
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Fd dir(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir || ::fsync(dir.get()) != 0) return fail(errno_error(what));
  return {};
}

Status publish_file(const std::string& path, std::string_view text, unsigned mode) {
  const std::string temporary = path + ".new";
  const std::string what = "cannot write " + path;
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error(what));
  if (Status s = write_all(fd.get(), text, what); !s) return s;
  if (::fchmod(fd.get(), mode) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(errno_error(what));
  return {};
}

Status make_directories(const std::string& path, unsigned mode) {
  for (std::size_t at = 1; at != std::string::npos && at <= path.size();) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST)
      return fail(errno_error("cannot create directory " + part));
    if (at != std::string::npos) ++at;
  }
  return {};
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  std::unique_ptr<DIR, CloseDir> dir(::opendir(path.c_str()));
  if (!dir) return fail(errno_error("cannot list " + path));
  return entries(dir.get());
}

Status remove_tree(const std::string& path) {
  constexpr int kDepth = 64;
  return remove_entry(AT_FDCWD, path, path, kDepth);
}

Result<Fd> lock_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error("cannot open lock " + path));
  // Open file description lock: another thread's close of the same file does not release it.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return fd;
  if (errno == EAGAIN || errno == EACCES)
    return fail(ErrorCode::already_exists, path + " is locked by another process");
  return fail(errno_error("cannot lock " + path));
}

Result<RecordDir> RecordDir::open(const std::string& path) {
  Fd dir(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return fail(errno_error("cannot open directory " + path));
  return RecordDir(std::move(dir), path);
}

std::string RecordDir::name_of(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

Status RecordDir::create(std::string_view name, std::string_view text, bool durable) const {
  const std::string what = "cannot write " + name_of(name);
  if (has(name)) return fail(ErrorCode::already_exists, what + ": it exists");
  const std::string final_name(name);
  std::string temporary = reserved_name(name);
  Fd fd(::openat(dir_.get(), temporary.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) {
    temporary = "." + final_name + "." + std::to_string(::getpid());
    fd.reset(
        ::openat(dir_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  if (!fd) return fail(errno_error(what));
  Status written = write_all(fd.get(), text, what);
  if (written && ::ftruncate(fd.get(), static_cast<off_t>(text.size())) != 0)
    written = fail(errno_error(what));
  if (written && durable && ::fsync(fd.get()) != 0) written = fail(errno_error(what));
  if (written && rename_if_absent(dir_.get(), temporary.c_str(), final_name.c_str()) != 0)
    written = fail(errno_error(what));
  if (!written) {
    ::unlinkat(dir_.get(), temporary.c_str(), 0);
    return written;
  }
  return durable ? sync() : Status{};
}

namespace {

// Those that write a directory's own name with the directory, even after a rename: it is part of a
// transaction that fsync(2) commits. Elsewhere the parent has to be synced as well.
bool syncs_own_name(int dir) {
  struct statfs info {};
  if (::fstatfs(dir, &info) != 0) return false;
  const auto kind = static_cast<std::uint32_t>(info.f_type);
  return kind == EXT4_SUPER_MAGIC || kind == XFS_SUPER_MAGIC || kind == BTRFS_SUPER_MAGIC;
}

}  // namespace

Status RecordDir::sync() const {
  if (::fsync(dir_.get()) != 0) return fail(errno_error("cannot write " + path_));
  if (syncs_own_name(dir_.get())) return {};
  Fd parent(::openat(dir_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || ::fsync(parent.get()) != 0) return fail(errno_error("cannot write " + path_));
  return {};
}

Result<std::string> RecordDir::read(std::string_view name) const {
  Fd fd(::openat(dir_.get(), std::string(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error("cannot read " + name_of(name)));
  return read_all(fd.get(), "cannot read " + name_of(name));
}

bool RecordDir::has(std::string_view name) const {
  return ::faccessat(dir_.get(), std::string(name).c_str(), F_OK, 0) == 0;
}

Status RecordDir::reserve(std::string_view name) const {
  constexpr off_t kSpace = 4096;
  const std::string what = "cannot set space aside for " + name_of(name);
  Fd fd(::openat(dir_.get(), reserved_name(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error(what));
  if (const int error = ::posix_fallocate(fd.get(), 0, kSpace); error != 0)
    return fail(errno_error(what, error));
  return {};
}

Status RecordDir::set_aside(std::string_view name) const {
  const std::string from(name);
  if (::renameat(dir_.get(), from.c_str(), dir_.get(), reserved_name(name).c_str()) == 0) return {};
  return fail(errno_error("cannot set " + name_of(name) + " aside"));
}

Result<bool> RecordDir::lock(std::string_view name) {
  const std::string path = "/proc/self/fd/" + std::to_string(dir_.get()) + "/" + std::string(name);
  Result<Fd> taken = lock_file(path);
  if (!taken && taken.error().code == ErrorCode::already_exists) return false;
  if (!taken) return fail(taken.error());
  lock_ = std::move(*taken);
  return true;
}

bool RecordDir::locked(std::string_view name) const {
  Fd fd(::openat(dir_.get(), std::string(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace ares::os
