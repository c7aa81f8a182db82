#include "exec/baremetal/file_spool.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

namespace ares::exec {
namespace {

constexpr const char* kLock = "lock";
constexpr const char* kLog = "log";
constexpr unsigned kPrivate = 0700;
constexpr unsigned kPassable =
    0711;  // the script in an attempt's directory is read by the job's user
constexpr std::size_t kForgottenKept = 10'000;

// A removed directory is first renamed to this prefix, so that its removal is atomic.
constexpr std::string_view kTrash = ".removed.";

// Below these a new attempt may find no place for its script and its end.
constexpr std::uint64_t kLeastFreeBytes = 4 << 20;
constexpr std::uint64_t kLeastFreeFiles = 64;

// Directories kept for later attempts: as many as may end and begin at about the same time.
constexpr std::size_t kMostFree = 256;

std::optional<node::Record> record_named(const std::string& name) {
  for (std::size_t i = 0; i < node::kRecordCount; ++i)
    if (node::file_name(static_cast<node::Record>(i)) == name) return static_cast<node::Record>(i);
  return std::nullopt;
}

// Specification and environment may contain secrets, which a recycled directory must not keep.
bool is_secret(node::Record record) {
  return record == node::Record::spec || record == node::Record::environment;
}

// Prepares one file of a finished attempt for reuse by another attempt. A script is removed: its
// user may still have it open or hard-linked.
Status blank(const os::RecordDir& dir, const std::string& name) {
  const auto truncate = [&](const std::string& file) -> Status {
    os::Fd fd(::openat(dir.fd(), file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!fd) return fail(os::errno_error("cannot empty " + dir.path() + "/" + file));
    return {};
  };
  if (name == kLock || name.ends_with(".reserved")) return {};
  if (name == kLog) return truncate(name);
  const std::optional<node::Record> record = record_named(name);
  // The host of the steps may still have them mapped.
  if (record && *record != node::Record::script && *record != node::Record::steps) {
    if (is_secret(*record))
      if (Status s = truncate(name); !s) return s;
    return dir.set_aside(name);
  }
  if (::unlinkat(dir.fd(), name.c_str(), 0) != 0)
    return fail(os::errno_error("cannot remove " + dir.path() + "/" + name));
  return {};
}

}  // namespace

Status FileAttemptDir::create(node::Record record, std::string_view text) {
  return dir_.create(node::file_name(record), text, node::is_durable(record));
}
Result<std::string> FileAttemptDir::read(node::Record record) const {
  return dir_.read(node::file_name(record));
}
bool FileAttemptDir::has(node::Record record) const {
  return dir_.has(node::file_name(record));
}
Status FileAttemptDir::sync() const {
  return dir_.sync();
}
Result<bool> FileAttemptDir::lock() {
  return dir_.lock(kLock);
}
bool FileAttemptDir::locked() const {
  return dir_.locked(kLock);
}
Status FileAttemptDir::reserve_exit() {
  return dir_.reserve(node::file_name(node::Record::exit));
}

Result<std::unique_ptr<FileSpool>> FileSpool::open(const std::string& path) {
  if (Status made = os::make_directories(path + "/jobs", 0755); !made) return fail(made.error());
  Result<os::Fd> lock = os::lock_file(path + "/lock");
  if (!lock && lock.error().code == ErrorCode::already_exists)
    return fail(ErrorCode::already_exists,
                "spool " + path + " is in use by another aresd; give each node its own");
  if (!lock) return fail(lock.error());
  std::unique_ptr<FileSpool> spool(new FileSpool(path, std::move(*lock)));
  Result<std::vector<std::string>> names = os::list_directory(path + "/jobs");
  if (!names) return fail(names.error());
  for (const std::string& name : *names)
    if (name.starts_with(kTrash)) (void)os::remove_tree(path + "/jobs/" + name);
  // A previous aresd may have died while it emptied one of these, so none is reused.
  if (Status s = os::remove_tree(path + "/free"); !s) return fail(s.error());
  // Without it directories are not reused.
  (void)!::mkdir((path + "/free").c_str(), kPrivate);
  if (Status s = spool->mend_forgotten(); !s) return fail(s.error());
  return spool;
}

std::unique_ptr<FileSpool> FileSpool::share(const std::string& path) {
  return std::unique_ptr<FileSpool>(new FileSpool(path, os::Fd()));
}

std::string FileSpool::directory(const AttemptKey& key) const {
  return path_ + "/jobs/" + node::directory_name(key);
}

Result<std::vector<AttemptKey>> FileSpool::list() const {
  Result<std::vector<std::string>> names = os::list_directory(path_ + "/jobs");
  if (!names) return fail(names.error());
  std::vector<AttemptKey> keys;
  for (const std::string& name : *names)
    if (auto key = node::parse_directory_name(name)) keys.push_back(*key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

Result<std::unique_ptr<node::AttemptDir>> FileSpool::create(const AttemptKey& key) {
  const std::string path = directory(key);
  if (!reuse(path)) {
    if (::mkdir(path.c_str(), kPrivate) != 0 && errno != EEXIST)
      return fail(os::errno_error("cannot create directory " + path));
    ::chmod(path.c_str(), kPassable);
  }
  Result<os::RecordDir> dir = os::RecordDir::open(path);
  if (!dir) return fail(dir.error());
  return std::make_unique<FileAttemptDir>(std::move(*dir));
}

std::unique_ptr<node::AttemptDir> FileSpool::open(const AttemptKey& key) const {
  Result<os::RecordDir> dir = os::RecordDir::open(directory(key));
  if (!dir) return nullptr;
  return std::make_unique<FileAttemptDir>(std::move(*dir));
}

bool FileSpool::locked(const AttemptKey& key) const {
  Result<os::RecordDir> dir = os::RecordDir::open(directory(key));
  return dir && dir->locked(kLock);
}

// Renames a free directory to `path`; false if there is none or the path exists.
bool FileSpool::reuse(const std::string& path) {
  if (free_.empty()) return false;
  const std::string from = path_ + "/free/" + free_.back();
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) !=
      0)
    return false;
  free_.pop_back();
  return true;
}

// Moves the directory to SPOOL/free at once and empties it under its lock. A supervisor that was started for the
// attempt but has not taken the lock yet sees afterwards that the intent is not its own (StepMachine::start).
bool FileSpool::recycle(const AttemptKey& key) {
  if (!lock_ || free_.size() >= kMostFree) return false;
  const std::string name = node::directory_name(key);
  const std::string to = path_ + "/free/" + name;
  Result<os::RecordDir> dir = os::RecordDir::open(directory(key));
  if (!dir) return false;
  const Result<bool> ours = dir->lock(kLock);
  if (!ours || !*ours || ::rename(directory(key).c_str(), to.c_str()) != 0) return false;
  const Result<std::vector<std::string>> names = os::list_directory(to);
  const bool blanked =
      names && std::all_of(names->begin(), names->end(), [&](const std::string& entry) {
        return static_cast<bool>(blank(*dir, entry));
      });
  if (blanked)
    free_.push_back(name);
  else
    (void)os::remove_tree(to);  // on failure removed at the next start
  return true;
}

Status FileSpool::remove(const AttemptKey& key) {
  const std::string path = directory(key);
  if (recycle(key)) return {};
  const std::string trash = path_ + "/jobs/" + std::string(kTrash) + node::directory_name(key);
  if (::rename(path.c_str(), trash.c_str()) != 0) {
    if (errno == ENOENT) return {};
    if (errno != EEXIST && errno != ENOTEMPTY)
      return fail(os::errno_error("cannot remove " + path));
    if (Status s = os::remove_tree(trash); !s) return s;
    if (::rename(path.c_str(), trash.c_str()) != 0)
      return fail(os::errno_error("cannot remove " + path));
  }
  return os::remove_tree(trash);
}

std::string FileSpool::fault() const {
  struct statvfs disk {};
  // File systems without a fixed size tell 0 blocks or 0 files.
  if (::statvfs(path_.c_str(), &disk) != 0 || disk.f_blocks == 0) return {};
  const bool root = ::geteuid() == 0;
  const std::uint64_t bytes = std::uint64_t{root ? disk.f_bfree : disk.f_bavail} * disk.f_frsize;
  const std::uint64_t files = root ? disk.f_ffree : disk.f_favail;
  if (bytes < kLeastFreeBytes) return "the disk of the spool is full: " + path_;
  if (disk.f_files > 0 && files < kLeastFreeFiles)
    return "the disk of the spool has no room for more files: " + path_;
  return {};
}

Result<std::string> FileSpool::read_identity() const {
  return os::read_file(path_ + "/identity");
}

Status FileSpool::write_identity(std::string_view text) {
  return os::replace_file(path_ + "/identity", text);
}

Status FileSpool::remember_forgotten(const AttemptKey& key, Fence fence) {
  const std::string path = path_ + "/forgotten";
  if (!forgotten_)
    forgotten_.reset(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  const std::string line = node::directory_name(key) + " " + std::to_string(fence.value()) + "\n";
  struct stat before {};
  if (!forgotten_ || ::fstat(forgotten_.get(), &before) != 0)
    return fail(os::errno_error("cannot append to " + path));
  const ssize_t written = ::write(forgotten_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  const int error = written < 0 ? errno : ENOSPC;
  // Part of a line would make all lines after it unreadable.
  if (written > 0) (void)!::ftruncate(forgotten_.get(), before.st_size);
  return fail(os::errno_error("cannot append to " + path, error));
}

Result<std::vector<std::pair<AttemptKey, Fence>>> FileSpool::forgotten() const {
  std::vector<std::pair<AttemptKey, Fence>> result;
  Result<std::string> text = os::read_file(path_ + "/forgotten");
  if (!text && text.error().code == ErrorCode::not_found) return result;
  if (!text) return fail(text.error());
  std::istringstream lines(*text);
  std::string name;
  for (std::uint64_t fence = 0; lines >> name >> fence;)  // an incomplete last line ends the list
    if (auto key = node::parse_directory_name(name)) result.emplace_back(*key, Fence(fence));
  return result;
}

Status FileSpool::mend_forgotten() {
  const std::string path = path_ + "/forgotten";
  Result<std::string> text = os::read_file(path);
  if (!text && text.error().code == ErrorCode::not_found) return {};
  if (!text) return fail(text.error());
  if (text->empty() || text->back() == '\n') return shorten_forgotten();
  // A power loss left the last line incomplete; a line appended to it would be unreadable. This also
  // works on a full disk.
  if (::truncate(path.c_str(), static_cast<off_t>(text->rfind('\n') + 1)) != 0)
    return fail(os::errno_error("cannot shorten " + path));
  return shorten_forgotten();
}

Status FileSpool::shorten_forgotten() {
  Result<std::vector<std::pair<AttemptKey, Fence>>> all = forgotten();
  if (!all) return fail(all.error());
  if (all->size() <= 2 * kForgottenKept) return {};
  std::string text;
  for (std::size_t i = all->size() - kForgottenKept; i < all->size(); ++i)
    text += node::directory_name((*all)[i].first) + " " + std::to_string((*all)[i].second.value()) +
            "\n";
  (void)os::replace_file(path_ + "/forgotten", text);  // on failure at the next start
  return {};
}

}  // namespace ares::exec
