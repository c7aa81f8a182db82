#include "exec/kubernetes/api/login/credential_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/clip.h"
#include "base/last_line.h"
#include "base/printable.h"
#include "os/process/exec_words.h"

namespace ares::kubernetes {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;
constexpr std::size_t kMostErrors = 64 << 10;
// In one poll: a program that writes without end must not keep the owner's loop.
constexpr int kMostReads = 16;

// Owns the two attribute objects of posix_spawn.
struct SpawnTables {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnTables() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnTables(const SpawnTables&) = delete;
  ~SpawnTables() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
};

void describe_child(SpawnTables& tables, int output, int errors) {
  ::posix_spawn_file_actions_addopen(&tables.files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&tables.files, output, 1);
  ::posix_spawn_file_actions_adddup2(&tables.files, errors, 2);
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, 3);
  sigset_t none;
  ::sigemptyset(&none);
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::posix_spawnattr_setsigmask(&tables.attributes, &none);
  ::posix_spawnattr_setsigdefault(&tables.attributes, &pipe);
  ::posix_spawnattr_setpgroup(&tables.attributes, 0);
  ::posix_spawnattr_setflags(
      &tables.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

// This process's environment with the plugin's variables in place of those of the same name.
std::vector<std::string> environment_of(const ExecPlugin& plugin, const std::string& info) {
  std::vector<std::string> set;
  for (const auto& [name, value] : plugin.environment) set.push_back(name + "=" + value);
  set.push_back("KUBERNETES_EXEC_INFO=" + info);
  std::vector<std::string> all = set;
  for (char** at = ::environ; *at; ++at) {
    const std::string_view variable(*at);
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    bool is_replaced = false;
    for (const std::string& other : set) is_replaced = is_replaced || other.starts_with(name);
    if (!is_replaced) all.emplace_back(variable);
  }
  return all;
}

struct Pipe {
  os::Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return fail(os::errno_error("cannot make a pipe"));
  Pipe made{os::Fd(ends[0]), os::Fd(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

}  // namespace

Result<std::unique_ptr<CredentialProgram>> CredentialProgram::start(const ExecPlugin& plugin,
                                                                    const std::string& info,
                                                                    BootTime deadline) {
  std::unique_ptr<CredentialProgram> self(new CredentialProgram(plugin.command, deadline));
  auto output = make_pipe();
  if (!output) return fail(output.error());
  auto errors = make_pipe();
  if (!errors) return fail(errors.error());
  std::vector<std::string> words{plugin.command};
  words.insert(words.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<std::string> variables = environment_of(plugin, info);
  SpawnTables tables;
  describe_child(tables, output->write.get(), errors->write.get());
  const int error =
      ::posix_spawnp(&self->pid_, plugin.command.c_str(), &tables.files, &tables.attributes,
                     os::exec_words(words).data(), os::exec_words(variables).data());
  if (error != 0) {
    self->pid_ = -1;
    std::string message = "cannot start the credential program " + quote(plugin.command) + ": " +
                          std::strerror(error);
    if (!plugin.install_hint.empty()) message += "; " + excerpt(plugin.install_hint);
    return fail(ErrorCode::failed_precondition, std::move(message));
  }
  self->process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, self->pid_, 0)));
  if (!self->process_) return fail(os::errno_error("cannot watch the credential program"));
  self->output_ = std::move(output->read);
  self->errors_ = std::move(errors->read);
  self->events_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!self->events_) return fail(os::errno_error("cannot watch the credential program"));
  for (const int fd : {self->process_.get(), self->output_.get(), self->errors_.get()})
    if (const Status watched = self->watch(fd); !watched) return fail(watched.error());
  return self;
}

CredentialProgram::~CredentialProgram() {
  stop();
}

Status CredentialProgram::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) < 0)
    return fail(os::errno_error("cannot watch the credential program"));
  return {};
}

void CredentialProgram::stop() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void CredentialProgram::read_some(os::Fd& fd, std::string& into, std::size_t most) {
  char buffer[16384];
  for (int reads = 0; fd && reads < kMostReads; ++reads) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      fd.reset();  // which takes it out of the set as well
      return;
    }
    const std::size_t room = most - into.size();
    if (&into == &output_text_ && static_cast<std::size_t>(n) > room) is_too_long_ = true;
    into.append(buffer, std::min(static_cast<std::size_t>(n), room));
    if (is_too_long_) return;
  }
}

tl::unexpected<Error> CredentialProgram::failed(const std::string& how) const {
  std::string message = "the credential program " + quote(command_) + " " + how;
  const std::string line = last_line(error_text_);
  if (!line.empty()) message += ": " + line;
  return fail(ErrorCode::unavailable, printable(clip(message)));
}

std::optional<Result<std::string>> CredentialProgram::poll(BootTime now) {
  // Before reading: what it wrote before its end is in the pipes then.
  siginfo_t end{};
  const bool has_ended =
      ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      end.si_pid == pid_;
  read_some(output_, output_text_, kMostOutput);
  read_some(errors_, error_text_, kMostErrors);
  if (is_too_long_) {
    stop();
    return failed("writes more than 1 MiB");
  }
  if (!has_ended) {
    if (now < deadline_) return std::nullopt;
    stop();
    return failed("did not end in time");
  }
  const int status = end.si_status;
  const bool has_exited = end.si_code == CLD_EXITED;
  stop();
  if (!has_exited) return failed("was ended by signal " + std::to_string(status));
  if (status != 0) return failed("failed with exit code " + std::to_string(status));
  return std::move(output_text_);
}

}  // namespace ares::kubernetes
