#include "aresstepd/site_program_runner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/last_line.h"
#include "node/environment.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/namespace.h"
#include "os/process/exec_words.h"

namespace ares::stepd {
namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::size_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

// Runs in the child. Returns only on failure.
void execute(const std::string& path, std::vector<std::string>& environment,
             const std::string& log) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(022);
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (in < 0 || out < 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0) return;
  if (::chdir("/") != 0) return;
  std::vector<std::string> arguments{path};
  ::execve(path.c_str(), os::exec_words(arguments).data(), os::exec_words(environment).data());
}

}  // namespace

SiteProgramRunner::SiteProgramRunner(const node::StepSpec& spec, std::string directory,
                                     std::function<void(pid_t)> started)
    : spec_(spec), directory_(std::move(directory)), started_(std::move(started)) {}

// What describes the job. Nothing that the user can choose the name of: a variable such as
// LD_PRELOAD would run the user's code as root.
std::vector<std::string> SiteProgramRunner::environment(const char* context) const {
  std::vector<std::string> variables{kPath, std::string("ARES_SCRIPT_CONTEXT=") + context};
  for (std::string& variable : node::job_environment(spec_, {}, directory_, os::wall_now()))
    // Processes with ARES_ATTEMPT_DIR are taken for the job's.
    if ((variable.starts_with("ARES") && !variable.starts_with("ARES_ATTEMPT_DIR=")) ||
        variable.starts_with("SLURM") || variable.starts_with("CUDA_VISIBLE_DEVICES=") ||
        variable.starts_with("ROCR_VISIBLE_DEVICES="))
      variables.push_back(std::move(variable));
  return variables;
}

Status SiteProgramRunner::start_prolog() {
  return start(*spec_.prolog, environment("prolog"));
}

Status SiteProgramRunner::start_epilog(const std::optional<ExitStatus>& exit) {
  std::vector<std::string> variables = environment("epilog");
  if (exit) {
    variables.push_back("ARES_JOB_EXIT_CODE=" + std::to_string(exit->code));
    variables.push_back("ARES_JOB_EXIT_SIGNAL=" + std::to_string(exit->signal));
  }
  return start(*spec_.epilog, std::move(variables));
}

Status SiteProgramRunner::start(const node::SiteProgram& program,
                                std::vector<std::string> environment) {
  log_begin_ = size_of(log_path());
  // Its write end closes at execve(); before that the child writes why it failed.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  os::Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t pid = os::fork_with(0);
  if (pid < 0) return fail(os::errno_error("cannot fork"));
  if (pid == 0) {
    execute(program.path, environment, log_path());
    const int error = errno;
    (void)!::write(write_end.get(), &error, sizeof error);
    ::_exit(127);
  }
  write_end.reset();
  int error = 0;
  ssize_t n = 0;
  while ((n = ::read(read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (n == sizeof error) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail(os::errno_error("cannot execute " + program.path, error));
  }
  pid_ = pid;
  started_(pid);
  return {};
}

void SiteProgramRunner::kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

node::ProgramEnd SiteProgramRunner::ended(int wait_status) {
  kill();  // what it left running in its session
  pid_ = 0;
  node::ProgramEnd end;
  if (WIFSIGNALED(wait_status))
    end.signal = WTERMSIG(wait_status);
  else
    end.code = WEXITSTATUS(wait_status);
  if (end.succeeded()) return end;
  if (const Result<std::string> log = os::read_file(log_path()); log && log->size() > log_begin_)
    end.said = last_line(std::string_view(*log).substr(log_begin_));
  return end;
}

}  // namespace ares::stepd
