// tests/tools/mpi_ring.c, built by the compiler of an MPI that the machine has, and the processes that run it.
// Owned by one test; one thread.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ares::test {

// A folder of its own, which goes with it.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "ares-mpi-XXXXXX";
    if (::mkdtemp(name.data())) path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Starts a program with its output in a file, and the environment of this process, where `more` replaces variables. It dies with this
// process. `keep` is the only descriptor beyond 2 that it inherits.
inline pid_t start(const std::vector<std::string>& words, const std::string& output,
                   const Environment& more, int keep = -1) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (keep >= 0) ::fcntl(keep, F_SETFD, 0);
  for (const auto& [name, value] : more) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

// The exit status, or nothing while it runs.
inline std::optional<int> exit_status(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) == 0) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The path of the program, or the reason why a test must be skipped.
struct Built {
  std::string program, skip;
};

inline Built build_mpi_ring(const std::string& compiler, const std::string& package,
                            const std::string& source, const Folder& folder) {
  if (::access(("/usr/bin/" + compiler).c_str(), X_OK) != 0)
    return {.program = "",
            .skip = "no " + compiler + "; contrib/deps.sh --dev installs " + package};
  const std::string program = folder.path() + "/mpi_ring";
  const pid_t pid =
      start({"/usr/bin/" + compiler, "-o", program, source}, folder.path() + "/build", {});
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) return {.program = "", .skip = compiler + " failed: " + folder.read("build")};
  return {.program = program, .skip = ""};
}

// What each rank of mpi_ring prints.
inline std::string ring_line(unsigned rank, unsigned size, unsigned here) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(size) + ", " +
         std::to_string(here) + " here, sum " + std::to_string(size * (size + 1) / 2) + ", ring " +
         std::to_string(rank == 0 ? size : rank + 1) + "\n";
}

// MPICH and Open MPI take a minute at most, on a loaded machine and with sanitizers.
inline constexpr std::chrono::seconds kMpiLimit{120};

}  // namespace ares::test
