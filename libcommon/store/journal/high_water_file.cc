// The file of HighWater. Two lines of fixed length lie in it, on pages of their own, and are
// written in turn: a power loss in the middle of a write leaves the other one. The later one whose
// checksum is right counts.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "store/journal/high_water.h"

namespace ares::store {
namespace {

constexpr std::size_t kLine = 512;  // a sector: disks write it whole or not at all
constexpr std::size_t kPage = 4096;
constexpr std::size_t kFile = 2 * kPage;

constexpr const char* kHeading = "ares-high-water-2";
constexpr const char* kOldHeading = "ares-high-water-1";  // of release 0.1.0: one line, no history

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

tl::unexpected<Error> cannot(const char* what, const std::string& path) {
  const int error = errno;
  return fail(ErrorCode::unavailable,
              std::string("cannot ") + what + " " + path + ": " + std::strerror(error));
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Of the running kernel; empty where it is not known.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

// A word of the line; there are no empty ones.
std::string word(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string unword(const std::string& text) {
  return text == "-" ? "" : text;
}

// FNV-1a.
std::string checksum(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

struct Line {
  std::uint64_t number = 0;  // of writes: the later line counts
  HighWaterMark mark;
};

std::string encode(const HighWaterMark& mark, std::uint64_t number, const std::string& boot_id,
                   bool clean) {
  const JournalPosition& at = mark.position;
  std::ostringstream text;
  text << kHeading << ' ' << number << ' ' << word(mark.system) << ' ' << word(at.history) << ' '
       << at.epoch.value() << ' ' << word(at.holder) << ' ' << at.lsn.value() << ' '
       << at.next_job_id.value() << ' ' << mark.next_node_id.value() << ' '
       << mark.reserved_lsn.value() << ' ' << mark.reserved_job_id.value() << ' ' << word(boot_id)
       << ' ' << (clean ? "clean" : "running");
  std::string line = text.str();
  line += ' ' + checksum(line) + " end";
  line.resize(kLine - 1, ' ');
  line += '\n';
  return line;
}

std::optional<Line> decode(const std::string& text, const std::string& boot_id) {
  const auto end = text.find(" end");
  if (end == std::string::npos || end < 17) return std::nullopt;
  const std::string content = text.substr(0, end - 17);
  if (text.substr(end - 16, 16) != checksum(content)) return std::nullopt;
  std::istringstream in(content);
  std::string heading, history, holder, boot, state;
  std::uint64_t epoch = 0, lsn = 0, job = 0, reserved_lsn = 0, reserved_job = 0;
  std::uint32_t node = 0;
  Line line;
  HighWaterMark& mark = line.mark;
  in >> heading >> line.number >> mark.system >> history >> epoch >> holder >> lsn >> job >> node >>
      reserved_lsn >> reserved_job >> boot >> state;
  if (!in || heading != kHeading) return std::nullopt;
  mark.system = unword(mark.system);
  mark.position = {unword(history), Epoch(epoch), unword(holder), Lsn(lsn), JobId(job)};
  mark.next_node_id = NodeId(node);
  mark.reserved_lsn = Lsn(reserved_lsn);
  mark.reserved_job_id = JobId(reserved_job);
  mark.may_lack_last_moments = state != "clean" && unword(boot) != boot_id;
  return line;
}

std::optional<HighWaterMark> decode_old(const std::string& text) {
  std::istringstream in(text);
  std::string heading, end;
  std::uint64_t epoch = 0, lsn = 0, job = 0;
  std::uint32_t node = 0;
  HighWaterMark mark;
  in >> heading >> mark.system >> epoch >> lsn >> job >> node >> end;
  if (!in || heading != kOldHeading || end != "end") return std::nullopt;
  mark.position = {"", Epoch(epoch), "", Lsn(lsn), JobId(job)};
  mark.next_node_id = NodeId(node);
  return with_reserve(std::move(mark), kIdsInASecond);
}

}  // namespace

HighWater::HighWater(std::string path) : path_(std::move(path)), boot_id_(boot_id()) {}

HighWater::~HighWater() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::optional<HighWaterMark>> HighWater::load() const {
  errno = 0;
  std::ifstream file(path_);
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    return cannot("read", path_);
  }
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  if (auto old = decode_old(text)) return old;
  std::optional<Line> latest;
  for (std::size_t at = 0; at + kLine <= text.size(); at += kPage)
    if (auto line = decode(text.substr(at, kLine), boot_id_);
        line && (!latest || line->number > latest->number))
      latest = std::move(line);
  if (latest) return std::move(latest->mark);
  return fail(ErrorCode::data_loss,
              path_ +
                  " is damaged: it cannot tell whether the database is the right one. Remove "
                  "the file if you are sure that it is");
}

Status HighWater::create(const HighWaterMark& mark) {
  const std::string fresh = path_ + ".new";
  Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) return cannot("create", fresh);
  std::string content = encode(mark, ++writes_, boot_id_, false);
  content.resize(kFile, ' ');
  const auto written = ::write(file.get(), content.data(), content.size());
  if (written != static_cast<ssize_t>(content.size())) return cannot("write", fresh);
  if (::fsync(file.get()) != 0) return cannot("sync", fresh);
  if (::rename(fresh.c_str(), path_.c_str()) != 0) return cannot("replace", path_);
  const std::string directory = directory_of(path_);
  const Descriptor parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0) return cannot("open", directory);
  if (::fsync(parent.get()) != 0) return cannot("sync", directory);
  if (fd_ >= 0) ::close(fd_);
  fd_ = file.release();
  return {};
}

Status HighWater::write(const HighWaterMark& mark, bool clean) {
  const std::string line = encode(mark, ++writes_, boot_id_, clean);
  const auto at = static_cast<off_t>(writes_ % 2 == 1 ? 0 : kPage);
  const auto written = ::pwrite(fd_, line.data(), line.size(), at);
  if (written != static_cast<ssize_t>(line.size())) return cannot("write", path_);
  return {};
}

Status HighWater::sync() {
  if (::fdatasync(fd_) != 0) return cannot("sync", path_);
  return {};
}

}  // namespace ares::store
