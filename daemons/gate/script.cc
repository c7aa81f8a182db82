#include "gate/script.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "os/fd.h"
#include "os/file.h"
#include "os/process/exec_words.h"

namespace ares::gate {
namespace {

using kubernetes::GateResult;

Duration duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

void set_variable(std::map<std::string, std::string, std::less<>>& variables,
                  std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals == 0) return;
  variables.insert_or_assign(std::string(item.substr(0, equals)),
                             std::string(item.substr(equals + 1)));
}

// "ADDRESS slots=TASKS" for each node.
std::string host_file_text(const ScriptStart& start) {
  std::string text;
  for (std::size_t i = 0; i < start.go.hosts.size(); ++i)
    text += start.go.hosts[i] + " slots=" +
            std::to_string(i < start.settings.tasks.size() ? start.settings.tasks[i] : 1) + "\n";
  return text;
}

Result<std::vector<std::string>> environment_of(const ScriptStart& start) {
  std::map<std::string, std::string, std::less<>> variables;
  // What the image sets, such as PATH, holds where the job says nothing else.
  for (char** item = ::environ; *item; ++item) set_variable(variables, *item);
  Result<std::string> own = os::read_file(start.job + "/environment");
  if (!own) return fail(own.error());
  const kubernetes::GateSettings& settings = start.settings;
  const std::set<std::string_view> kept(settings.kept_variables.begin(),
                                        settings.kept_variables.end());
  const auto is_images = [&](std::string_view item) {
    const std::string_view name = item.substr(0, item.find('='));
    return settings.is_image_first && !kept.contains(name) && variables.contains(name);
  };
  std::string_view rest = *own;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    if (!is_images(rest.substr(0, end))) set_variable(variables, rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  for (const std::string& item : start.go.variables) set_variable(variables, item);
  // Last, so that the image's own commands of these names are found before.
  std::string& path = variables["PATH"];
  if (path.empty()) path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  path += ":" + std::string(kubernetes::kGateFolder) + "/" + kubernetes::kGateNames;
  if (const std::string hosts = host_file_text(start); !hosts.empty()) {
    const std::string file = start.state + "/hosts";
    if (Status written = os::publish_file(file, hosts, 0444); !written)
      return fail(written.error());
    variables.insert_or_assign("ARES_HOSTFILE", file);
  }
  std::vector<std::string> items;
  for (const auto& [name, value] : variables) items.push_back(name + "=" + value);
  return items;
}

struct Failure {
  char what[64];
  int error;
};

// In the child, until exec: tells the gate what failed.
[[noreturn]] void give_up(int report, const char* what) {
  Failure failure{{}, errno};
  std::strncpy(failure.what, what, sizeof failure.what - 1);
  (void)!::write(report, &failure, sizeof failure);
  ::_exit(127);
}

void open_as(int report, const std::string& path, int flags, int descriptor, const char* what) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (file < 0 || ::dup2(file, descriptor) < 0) give_up(report, what);
}

[[noreturn]] void become(const ScriptStart& start, const char* path, char* const* arguments,
                         char* const* environment, int report) {
  const kubernetes::GateSettings& settings = start.settings;
  ::setsid();
  ::sigprocmask(SIG_UNBLOCK, &start.blocked, nullptr);
  ::umask(settings.umask);
  if (!settings.directory.empty() && ::chdir(settings.directory.c_str()) < 0 &&
      settings.needs_directory)
    give_up(report, "cannot enter the working directory");
  const int flags = O_WRONLY | O_CREAT | (settings.appends ? O_APPEND : O_TRUNC);
  open_as(report, settings.input.empty() ? "/dev/null" : settings.input, O_RDONLY, 0,
          "cannot open standard input");
  if (start.output >= 0 && (::dup2(start.output, 1) < 0 || ::dup2(start.output, 2) < 0))
    give_up(report, "cannot open standard output");
  if (!settings.output.empty())
    open_as(report, settings.output, flags, 1, "cannot open standard output");
  if (!settings.error.empty())
    open_as(report, settings.error, flags, 2, "cannot open standard error");
  else if (!settings.output.empty())
    ::dup2(1, 2);
  ::execve(path, arguments, environment);
  give_up(report, errno == ENOENT ? "the image has no interpreter for the script"
                                  : "cannot run the script");
}

}  // namespace

Result<Script> Script::start(const ScriptStart& start) {
  Result<std::vector<std::string>> environment = environment_of(start);
  if (!environment) return fail(environment.error());
  const std::string path = start.job + "/script";
  std::vector<std::string> arguments{path};
  arguments.insert(arguments.end(), start.settings.arguments.begin(),
                   start.settings.arguments.end());
  const std::vector<char*> argv = os::exec_words(arguments), envp = os::exec_words(*environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return fail(os::errno_error("cannot make a pipe"));
  const os::Fd told(ends[0]);
  os::Fd report(ends[1]);
  const pid_t process = ::fork();
  if (process < 0) return fail(os::errno_error("cannot start a process"));
  if (process == 0) become(start, path.c_str(), argv.data(), envp.data(), report.get());
  report.reset();
  Failure failure{};
  if (::read(told.get(), &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure)) {
    ::waitpid(process, nullptr, 0);
    return fail(os::errno_error(failure.what, failure.error));
  }
  return Script(process);
}

void Script::signal(int number, bool script_only) const {
  // In a container the gate is process 1, which this signal does not reach.
  if (!script_only && ::getpid() == 1)
    ::kill(-1, number);
  else
    ::kill(script_only ? process_ : -process_, number);
}

std::optional<GateResult> Script::look() {
  std::optional<GateResult> result;
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != process_) continue;
    result.emplace();
    result->end = WIFSIGNALED(status) ? GateResult::End::signalled : GateResult::End::exited;
    result->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  if (!result) return std::nullopt;
  // They end with the script, as on every node.
  signal(SIGKILL, false);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  result->user_cpu = duration_of(used.ru_utime);
  result->system_cpu = duration_of(used.ru_stime);
  result->max_rss = Bytes::kib(used.ru_maxrss);
  return result;
}

}  // namespace ares::gate
