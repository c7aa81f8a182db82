#include "aresstepd/steps/script_errors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/printable.h"
#include "node/file_pattern.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

std::string path_of(const node::StepSpec& spec) {
  const JobSpec& job = *spec.launch.spec;
  std::string path = node::errors_file(spec);
  if (path.starts_with('/')) return path;
  return (job.work_dir.empty() ? job.submit_dir : job.work_dir) + "/" + path;
}

// Where the file may be read, too, its last byte says whether a line is unfinished.
os::Fd open_to_append(const std::string& path) {
  constexpr int kFlags = O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  os::Fd file(::open(path.c_str(), O_RDWR | kFlags));
  if (!file && errno == EACCES) file.reset(::open(path.c_str(), O_WRONLY | kFlags));
  return file;
}

}  // namespace

Status add_to_errors(const node::StepSpec& spec, std::string_view line) {
  const std::string path = path_of(spec);
  const std::string what = "the standard error of its script, " + excerpt(path) + ", ";
  const os::Fd file = open_to_append(path);
  if (!file)
    return fail(ErrorCode::failed_precondition, os::errno_error(what + "cannot be opened").message);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorCode::failed_precondition, what + "is not a file that keeps what is written");
  char last = '\n';
  if (status.st_size > 0) (void)!::pread(file.get(), &last, 1, status.st_size - 1);
  const std::string text = (last == '\n' ? "" : "\n") + std::string(line);
  // In one call, so that nothing that others write comes between.
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  return fail(ErrorCode::failed_precondition,
              written < 0 ? os::errno_error(what + "cannot be written").message
                          : what + "took only a part of the message");
}

}  // namespace ares::stepd
