#include "aresstepd/steps/task_process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "aresstepd/script_child.h"
#include "aresstepd/task_epilog.h"
#include "aresstepd/task_pid.h"
#include "aresstepd/task_prolog.h"
#include "os/affinity.h"
#include "os/namespace.h"
#include "os/process/exec_words.h"

namespace ares::stepd {
namespace {

constexpr int kCannot = 1;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr Seconds kEpilogTime{10};

struct Pipe {
  os::Fd read, write;
};

Status make_pipe(Pipe& made) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  made.read.reset(ends[0]);
  made.write.reset(ends[1]);
  return {};
}

struct Terminal {
  os::Fd master, slave;
};

void set_window(int terminal, std::uint32_t size) {
  if (size == 0) return;
  winsize window{};
  window.ws_col = static_cast<unsigned short>(size >> 16);
  window.ws_row = static_cast<unsigned short>(size & 0xffff);
  ::ioctl(terminal, TIOCSWINSZ, &window);
}

Result<Terminal> make_terminal(std::uint32_t size) {
  Terminal made;
  made.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[64];
  if (!made.master || ::grantpt(made.master.get()) != 0 || ::unlockpt(made.master.get()) != 0 ||
      ::ptsname_r(made.master.get(), name, sizeof name) != 0)
    return fail(os::errno_error("cannot make a terminal"));
  made.slave.reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.slave) return fail(os::errno_error("cannot open the terminal"));
  set_window(made.master.get(), size);
  return made;
}

// `report` reaches arun, also where standard error is a file.
[[noreturn]] void give_up(int report, const std::string& what, int error, int code) {
  ::dprintf(report, "aresstepd: %s: %s\n", what.c_str(), std::strerror(error));
  ::_exit(code);
}

void use_file(int report, int target, const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) give_up(report, "cannot open " + path, errno, kCannot);
  ::dup2(fd, target);
}

struct ChildEnds {
  int input = -1, output = -1, errors = -1;
  int terminal = -1;
};

[[noreturn]] void give_up(int report, const std::string& why) {
  ::dprintf(report, "aresstepd: %s\n", why.c_str());
  ::_exit(kCannot);
}

// Those of --task-prolog and --task-epilog. With an epilog it returns in a child of this process.
void run_programs_around(TaskStart& start, int report) {
  name_this_process(start.environment, start.slurm_variables);
  if (!start.prolog.empty())
    if (const Status ran = run_task_prolog(start.prolog, start.environment); !ran)
      give_up(report, ran.error().message);
  if (start.epilog.empty()) return;
  const Status in_child = continue_as_child([&] {
    const std::string wrong =
        run_task_epilog(node::SiteProgram{start.epilog, kEpilogTime}, start.environment);
    if (!wrong.empty()) ::dprintf(report, "aresstepd: the task epilog %s\n", wrong.c_str());
  });
  if (!in_child) give_up(report, in_child.error().message);
  name_this_process(start.environment, start.slurm_variables);
}

void enter(const std::string& group, int report) {
  const os::Fd processes(::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!processes || ::write(processes.get(), "0", 1) != 1)
    give_up(report, "cannot enter the control group of the step", errno, kCannot);
}

[[noreturn]] void run(TaskStart& start, const ChildEnds& ends) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  if (ends.terminal >= 0) {
    ::ioctl(ends.terminal, TIOCSCTTY, 0);
    for (int target = 0; target < 3; ++target) ::dup2(ends.terminal, target);
  } else {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(ends.input >= 0 ? ends.input : null, 0);
    ::dup2(ends.output >= 0 ? ends.output : null, 1);
    ::dup2(ends.errors >= 0 ? ends.errors : null, 2);
  }
  const int report = ends.errors >= 0 ? ends.errors : 2;
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (start.passed >= 0) ::fcntl(start.passed, F_SETFD, 0);
  if (!start.group.empty()) enter(start.group, report);
  os::run_on(start.cpus);
  if (const int error = os::take_memory_from(start.memory_nodes, start.only_memory_nodes);
      error != 0)
    ::dprintf(report,
              "aresstepd: cannot take memory from NUMA node %s: %s; --mem-bind has no effect\n",
              format_interval_set(start.memory_nodes).c_str(), std::strerror(error));
  ::umask(start.umask & 0777);
  if (::chdir(start.directory.c_str()) != 0) {
    ::dprintf(report, "aresstepd: cannot change to directory %s: %s; using /tmp instead\n",
              start.directory.c_str(), std::strerror(errno));
    if (::chdir("/tmp") != 0) give_up(report, "cannot change to directory /tmp", errno, kCannot);
  }
  const int write_flags = O_WRONLY | O_CREAT | O_APPEND | (start.append ? 0 : O_TRUNC);
  if (!start.input.empty()) use_file(report, 0, start.input, O_RDONLY);
  if (!start.output.empty()) use_file(report, 1, start.output, write_flags);
  if (!start.errors.empty() && start.errors == start.output)
    ::dup2(1, 2);
  else if (!start.errors.empty())
    use_file(report, 2, start.errors, write_flags);

  run_programs_around(start, report);
  // PATH of the task, not of this process, finds the program.
  std::vector<char*> variables = os::exec_words(start.environment);
  environ = variables.data();
  const std::vector<char*> arguments = os::exec_words(start.arguments);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  give_up(report, "cannot execute " + start.arguments[0], error,
          error == ENOENT ? kNotFound : kNotExecutable);
}

}  // namespace

Result<StartedTask> start_task(TaskStart start) {
  StartedTask started;
  Pipe in, out, err;
  Terminal terminal;
  ChildEnds ends;
  if (start.pty) {
    Result<Terminal> made = make_terminal(start.window_size);
    if (!made) return fail(made.error());
    terminal = std::move(*made);
    ends.terminal = terminal.slave.get();
  } else {
    if (start.input.empty() && start.has_input)
      if (Status made = make_pipe(in); !made) return fail(made.error());
    if (start.output.empty())
      if (Status made = make_pipe(out); !made) return fail(made.error());
    // Also where standard error is a file, until the program is executed.
    if (Status made = make_pipe(err); !made) return fail(made.error());
    ends = {in.read.get(), out.write.get(), err.write.get(), -1};
  }
  const pid_t pid = os::fork_with(0);
  if (pid < 0) return fail(os::errno_error("cannot fork a task"));
  if (pid == 0) run(start, ends);
  started.pid = pid;
  started.input = std::move(in.write);
  started.output = start.pty ? std::move(terminal.master) : std::move(out.read);
  started.errors = std::move(err.read);
  for (const os::Fd* fd : {&started.input, &started.output, &started.errors})
    if (*fd) ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  return started;
}

}  // namespace ares::stepd
