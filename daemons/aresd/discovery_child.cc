#include "aresd/discovery_child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/printable.h"
#include "gres/found/json.h"
#include "os/fd.h"

namespace ares::aresd {
namespace {

using Clock = std::chrono::steady_clock;

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

// Without a blocked signal, whatever aresd blocks, and in a group of its own.
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

int milliseconds_until(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

// Reads both until their ends; false at the deadline. Text beyond `most` is dropped.
bool read_both(const Pipe& out, const Pipe& err, std::size_t most, Clock::time_point deadline,
               std::string& text, std::string& complaint) {
  std::array<pollfd, 2> ends{{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
  const std::array<std::string*, 2> into{&text, &complaint};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const int ready = ::poll(ends.data(), ends.size(), milliseconds_until(deadline));
    if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    for (std::size_t i = 0; ready > 0 && i < ends.size(); ++i) {
      if (ends[i].revents == 0) continue;
      std::array<char, 16384> buffer;
      const ssize_t count = ::read(ends[i].fd, buffer.data(), buffer.size());
      if (count > 0)
        into[i]->append(buffer.data(), std::min(most - std::min(most, into[i]->size()),
                                                static_cast<std::size_t>(count)));
      else if (count == 0 || errno != EINTR)
        ends[i].fd = -1;
    }
  }
  return true;
}

// False: it has not ended by the deadline. A process that was told to end by SIGKILL does so at once unless
// the kernel is busy for it.
bool reap(pid_t pid, Clock::time_point deadline, int& status) {
  for (;;) {
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid || (got < 0 && errno != EINTR)) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Of what a program wrote about its failure, without its own name.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  if (const std::size_t end = text.rfind('\n'); end != std::string::npos) text.erase(0, end + 1);
  if (text.starts_with("aresd: ")) text.erase(0, 7);
  return excerpt(text);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return std::string("it was ended by a signal: ") + ::strsignal(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<gres::FoundMachine> discover_in_child(const std::string& source, Seconds timeout,
                                             std::vector<std::string> command) {
  if (command.empty()) {
    std::error_code error;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) return fail(ErrorCode::internal, "cannot find my own program: " + error.message());
    command = {self, "--discover-here", source};
  }
  const auto deadline = Clock::now() + timeout;
  Result<Pipe> out = Pipe::make(), err = Pipe::make();
  if (!out) return fail(out.error());
  if (!err) return fail(err.error());
  const Result<pid_t> pid = spawn(command, *out, *err);
  out->write.reset();
  err->write.reset();
  if (!pid) return fail(pid.error());
  std::string text, complaint;
  int status = 0;
  if (!read_both(*out, *err, gres::kLongestFound + 1, deadline, text, complaint) ||
      !reap(*pid, deadline, status)) {
    ::kill(-*pid, SIGKILL);
    const bool gone = reap(*pid, Clock::now() + std::chrono::seconds(1), status);
    return fail(ErrorCode::unavailable,
                "no answer within " + std::to_string(timeout.count()) + " s" +
                    (gone ? "" : "; process " + std::to_string(*pid) + " cannot be killed") +
                    "; does the driver hang?");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string why = last_line(complaint);
    return fail(ErrorCode::failed_precondition,
                why.empty() || WIFSIGNALED(status) ? how_it_ended(status) : why);
  }
  Result<gres::FoundMachine> found = gres::from_json(text);
  if (!found)
    return fail(ErrorCode::failed_precondition,
                "the answer of discovery is invalid: " + found.error().message);
  return found;
}

}  // namespace ares::aresd
