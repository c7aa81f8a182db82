#include "aresstepd/task_prolog.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "os/fd.h"
#include "os/process/exec_words.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;

bool names(std::string_view variable, std::string_view name) {
  return variable.size() > name.size() && variable.starts_with(name) &&
         variable[name.size()] == '=';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Its standard output, or why it failed.
Result<std::string> output_of(const std::string& program, std::vector<std::string>& variables) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  os::Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(os::errno_error("cannot fork"));
  if (pid == 0) {
    ::dup2(write_end.get(), 1);
    std::vector<std::string> arguments{program};
    ::execve(program.c_str(), os::exec_words(arguments).data(), os::exec_words(variables).data());
    ::dprintf(2, "aresstepd: %s\n", os::errno_error("cannot execute " + program).message.c_str());
    ::_exit(127);
  }
  write_end.reset();
  std::string output;
  char buffer[4096];
  for (ssize_t n; (n = ::read(read_end.get(), buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (output.size() < kMostOutput) output.append(buffer, static_cast<std::size_t>(n));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return fail(ErrorCode::internal,
                "the task prolog was ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fail(ErrorCode::internal,
                "the task prolog exited with " + std::to_string(WEXITSTATUS(status)));
  return output;
}

}  // namespace

void obey_line(std::string_view line, std::vector<std::string>& variables, std::string& printed) {
  line = trim(line);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view word = line.substr(0, space);
  const std::string_view rest = line.substr(space + 1);
  if (word == "print") {
    printed += std::string(rest) + "\n";
  } else if (word == "unset") {
    std::erase_if(variables, [&](const std::string& v) { return names(v, trim(rest)); });
  } else if (word == "export") {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos || equals == 0) return;
    const std::string_view name = trim(rest.substr(0, equals));
    std::erase_if(variables, [&](const std::string& v) { return names(v, name); });
    variables.push_back(std::string(name) + std::string(rest.substr(equals)));
  }
}

Status run_task_prolog(const std::string& program, std::vector<std::string>& variables) {
  const Result<std::string> output = output_of(program, variables);
  if (!output) return fail(output.error());
  std::string printed;
  std::string_view rest = *output;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    obey_line(rest.substr(0, newline), variables, printed);
    rest = newline == std::string_view::npos ? std::string_view() : rest.substr(newline + 1);
  }
  (void)!::write(1, printed.data(), printed.size());
  return {};
}

}  // namespace ares::stepd
