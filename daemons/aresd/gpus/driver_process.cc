#include "aresd/gpus/driver_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>
#include <utility>

namespace ares::aresd {
namespace {

struct Pipe {
  os::Fd read, write;

  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
    return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
  }
};

// Owns the two tables of posix_spawn.
struct SpawnTables {
  SpawnTables() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnTables() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnTables(const SpawnTables&) = delete;
  SpawnTables& operator=(const SpawnTables&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

// Without a blocked signal, whatever aresd blocks.
Result<pid_t> spawn(const std::vector<std::string>& command, const Pipe& out, const Pipe& err) {
  SpawnTables tables;
  ::posix_spawn_file_actions_addopen(&tables.files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&tables.files, out.write.get(), 1);
  ::posix_spawn_file_actions_adddup2(&tables.files, err.write.get(), 2);
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, 3);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&tables.attributes, &none);
  ::posix_spawnattr_setpgroup(&tables.attributes, 0);
  ::posix_spawnattr_setflags(&tables.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (const int error = ::posix_spawn(&pid, arguments[0], &tables.files, &tables.attributes,
                                      arguments.data(), environ);
      error != 0)
    return fail(os::errno_error("cannot start " + command.front(), error));
  return pid;
}

}  // namespace

Result<DriverProcess> DriverProcess::start(std::vector<std::string> command) {
  if (command.front().empty()) {
    std::error_code error;
    command.front() = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) return fail(ErrorCode::internal, "cannot find my own program: " + error.message());
  }
  Result<Pipe> out = Pipe::make(), err = Pipe::make();
  if (!out) return fail(out.error());
  if (!err) return fail(err.error());
  const Result<pid_t> pid = spawn(command, *out, *err);
  if (!pid) return fail(pid.error());
  return DriverProcess(*pid, std::move(out->read), std::move(err->read));
}

DriverProcess::DriverProcess(DriverProcess&& other) noexcept
    : pid_(other.pid_),
      ended_(std::exchange(other.ended_, true)),
      status_(other.status_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

bool DriverProcess::wait(std::chrono::steady_clock::time_point deadline) {
  while (!ended_) {
    const pid_t got = ::waitpid(pid_, &status_, WNOHANG);
    ended_ = got == pid_ || (got < 0 && errno != EINTR);
    if (!ended_ && std::chrono::steady_clock::now() >= deadline) return false;
    if (!ended_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool DriverProcess::kill() {
  if (ended_) return true;
  ::kill(-pid_, SIGKILL);
  return wait(std::chrono::steady_clock::now() + std::chrono::seconds(1));
}

}  // namespace ares::aresd
