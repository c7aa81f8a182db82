#include "store/journal/high_water.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace ares::store {
namespace {

// The file is written about once a second, so the database may be ahead of it.
constexpr std::uint64_t kLsnMargin = 1'000'000;
constexpr std::uint64_t kIdMargin = 10'000;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

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

std::string describe(const HighWaterMark& mark) {
  return "epoch " + std::to_string(mark.epoch.value()) + ", event " +
         std::to_string(mark.lsn.value());
}

}  // namespace

Status check_not_behind(const HighWaterMark& seen, const HighWaterMark& found) {
  if (seen.system != found.system)
    return fail(ErrorCode::failed_precondition,
                "this is another database than the one this controller used before (it is " +
                    found.system + ", before it was " + seen.system +
                    "): check `database:` in ares.yaml; if the change is meant, start once with "
                    "--accept-rollback");
  if (found.epoch < seen.epoch || found.lsn < seen.lsn)
    return fail(ErrorCode::data_loss,
                "the database stands at " + describe(found) +
                    ", but this controller has seen it at " + describe(seen) +
                    ": an older copy was restored, or writes were lost. Restore a newer copy; or "
                    "start once with --accept-rollback to go on without what is missing");
  return {};
}

HighWaterMark raised_above(const HighWaterMark& seen, const HighWaterMark& found) {
  HighWaterMark raised = found;
  raised.epoch = std::max(seen.epoch, found.epoch);
  raised.lsn = Lsn(std::max(seen.lsn, found.lsn).value() + kLsnMargin);
  raised.next_job_id = JobId(std::max(seen.next_job_id, found.next_job_id).value() + kIdMargin);
  raised.next_node_id = std::max(seen.next_node_id, found.next_node_id);
  return raised;
}

Result<std::optional<HighWaterMark>> HighWater::load() const {
  errno = 0;
  std::ifstream file(path_);
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    return cannot("read", path_);
  }
  std::stringstream text;
  text << file.rdbuf();
  std::string heading, end;
  std::uint64_t epoch = 0, lsn = 0, job = 0;
  std::uint32_t node = 0;
  HighWaterMark mark;
  text >> heading >> mark.system >> epoch >> lsn >> job >> node >> end;
  if (!text || heading != "ares-high-water-1" || end != "end")
    return fail(ErrorCode::data_loss,
                path_ +
                    " is damaged: it cannot tell whether the database is the right one. Remove "
                    "the file if you are sure that it is");
  mark.epoch = Epoch(epoch);
  mark.lsn = Lsn(lsn);
  mark.next_job_id = JobId(job);
  mark.next_node_id = NodeId(node);
  return mark;
}

Status HighWater::save(const HighWaterMark& mark) const {
  std::ostringstream text;
  text << "ares-high-water-1 " << mark.system << ' ' << mark.epoch.value() << ' '
       << mark.lsn.value() << ' ' << mark.next_job_id.value() << ' ' << mark.next_node_id.value()
       << " end\n";
  const std::string content = text.str();
  const std::string fresh = path_ + ".new";
  {
    const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (file.get() < 0) return cannot("create", fresh);
    const auto written = ::write(file.get(), content.data(), content.size());
    if (written != static_cast<ssize_t>(content.size())) return cannot("write", fresh);
    if (::fsync(file.get()) != 0) return cannot("sync", fresh);
  }
  if (::rename(fresh.c_str(), path_.c_str()) != 0) return cannot("replace", path_);
  const std::string directory = directory_of(path_);
  const Descriptor parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0) return cannot("open", directory);
  if (::fsync(parent.get()) != 0) return cannot("sync", directory);
  return {};
}

}  // namespace ares::store
