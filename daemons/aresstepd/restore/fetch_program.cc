#include "aresstepd/restore/fetch_program.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/printable.h"
#include "os/fd.h"
#include "os/process/exec_words.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kMostOutput = 1 << 16;
constexpr int kExitUnusable = 1;

std::string read_all(int fd) {
  std::string output;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (output.size() < kMostOutput) output.append(buffer, static_cast<std::size_t>(n));
  }
  return output;
}

// The last line without the name of the program; the others are told.
std::string tell_all_but_last(std::string_view output,
                              const std::function<void(const std::string&)>& complain) {
  constexpr std::string_view kOwn = "acheckpoint: ";
  std::string last;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    if (line.starts_with(kOwn)) line.remove_prefix(kOwn.size());
    if (line.empty()) continue;
    if (!last.empty()) complain(last);
    last = printable(line);
  }
  return last;
}

}  // namespace

std::string fetcher_path() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string own(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return own.substr(0, own.rfind('/') + 1) + "acheckpoint";
}

Status run_fetch(const std::string& program, std::vector<std::string> arguments,
                 std::vector<std::string> variables,
                 const std::function<void(const std::string&)>& complain) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  os::Fd read_end(ends[0]), write_end(ends[1]);
  arguments.insert(arguments.begin(), program);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(os::errno_error("cannot fork"));
  if (pid == 0) {
    ::dup2(write_end.get(), 1);
    ::dup2(write_end.get(), 2);
    ::execve(program.c_str(), os::exec_words(arguments).data(), os::exec_words(variables).data());
    ::dprintf(2, "%s\n", os::errno_error("cannot execute " + program).message.c_str());
    ::_exit(127);
  }
  write_end.reset();
  const std::string output = read_all(read_end.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string why = tell_all_but_last(output, complain);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (!why.empty()) complain(why);
    return {};
  }
  if (WIFSIGNALED(status))
    return fail(ErrorCode::unavailable,
                program + " was ended by signal " + std::to_string(WTERMSIG(status)));
  return fail(WEXITSTATUS(status) == kExitUnusable ? ErrorCode::data_loss : ErrorCode::unavailable,
              why.empty() ? program + " exited with " + std::to_string(WEXITSTATUS(status)) : why);
}

}  // namespace ares::stepd
