// ares-submit-hook: runs the site's script for submissions, see ares-submit-hook(7). aresctld keeps some of these processes, and starts
// another one where one has ended. Reads calls from standard input and writes an answer for each to standard output, a line of JSON each;
// submit/message/hook_message.h has their members.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "os/fd.h"
#include "os/file.h"
#include "submit/lua/run_hook.h"
#include "submit/message/hook_message.h"

namespace {

using ares::Result;
using ares::os::Fd;
using ares::submit::HookAnswer;

constexpr int kUsage = 2;
constexpr std::size_t kLargestLine = std::size_t{64} << 20;

// Descriptors of the caller, out of the way of the script: its own standard input and output are /dev/null.
struct Lines {
  Fd in;
  Fd out;
  std::string rest{};

  // False at the end of the input.
  bool read(std::string& line) {
    for (;;) {
      if (const std::size_t end = rest.find('\n'); end != std::string::npos) {
        line = rest.substr(0, end);
        rest.erase(0, end + 1);
        return true;
      }
      char buffer[65536];
      const ssize_t n = ::read(in.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0 || rest.size() > kLargestLine) return false;
      rest.append(buffer, static_cast<std::size_t>(n));
    }
  }

  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::write(out.get(), text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
};

Lines take_standard_files() {
  Lines lines{Fd(::fcntl(0, F_DUPFD_CLOEXEC, 3)), Fd(::fcntl(1, F_DUPFD_CLOEXEC, 3))};
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), 0);
  ::dup2(null.get(), 1);
  return lines;
}

// Others who could change it would act as this user.
Result<std::string> read_script(const std::string& path) {
  const auto check = [](const std::string& what) -> ares::Status {
    struct stat found {};
    if (::stat(what.c_str(), &found) != 0) return ares::fail(ares::os::errno_error(what));
    if ((found.st_uid != 0 && found.st_uid != ::geteuid()) || (found.st_mode & 022) != 0)
      return ares::fail(ares::ErrorCode::permission_denied,
                        what + ": others than root and the user of this program can change it");
    return {};
  };
  if (const auto good = check(path); !good) return ares::fail(good.error());
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (const auto good = check(folder); !good) return ares::fail(good.error());
  return ares::os::read_file(path);
}

HookAnswer failed(std::string problem) {
  HookAnswer answer;
  answer.kind = HookAnswer::Kind::failed;
  answer.problem = std::move(problem);
  return answer;
}

HookAnswer answer_to(const std::string& line) {
  const auto call = ares::submit::hook_call_from_json(line);
  if (!call) return failed("the call cannot be read: " + call.error().message);
  const auto source = read_script(call->file);
  if (!source) return failed(source.error().message);
  return ares::submit::run_hook(*call, *source);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    if (std::string_view(arguments[1]) == "--version") {
      std::puts("ares-submit-hook " ARES_VERSION);
      return 0;
    }
    std::fputs("usage: ares-submit-hook < CALLS\naresctld starts it; see ares-submit-hook(7)\n",
               stderr);
    return kUsage;
  }
  // A script that loops within a function of a library would outlive a caller that was killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  Lines lines = take_standard_files();
  for (std::string line; lines.read(line);)
    if (!lines.write(ares::submit::to_json(answer_to(line)) + "\n")) return 1;
  return 0;
}
