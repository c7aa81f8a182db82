// A separate munged for a test: private key, private socket, removed at the end.
// Owned by the test; its socket may be used from any thread.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace ares::testing {

// Polls until `condition()` holds or `limit` has passed.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds{10}) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "ares-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Munged {
 public:
  Munged() {
    chmod(directory_.path().c_str(), 0755);  // munged requires that all users may reach its socket
    write_key();
    start();
  }
  Munged(const Munged&) = delete;
  Munged& operator=(const Munged&) = delete;
  ~Munged() { stop(); }

  std::string socket() const { return directory_.path() + "/munge.sock"; }

  void start() {
    const std::string& d = directory_.path();
    // setpriv: munged must not outlive a test that crashes.
    std::vector<std::string> words = {"/usr/bin/setpriv",
                                      "--pdeathsig=KILL",
                                      "/usr/sbin/munged",
                                      "--foreground",
                                      "--num-threads=2",
                                      "--socket=" + socket(),
                                      "--key-file=" + d + "/key",
                                      "--pid-file=" + d + "/pid",
                                      "--seed-file=" + d + "/seed",
                                      "--log-file=" + d + "/log"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int fd : {1, 2})
      posix_spawn_file_actions_addopen(&files, fd, (d + "/output").c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int error = posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    ASSERT_EQ(error, 0) << "cannot start munged";
    ASSERT_TRUE(eventually([this] { return answers(); })) << "munged does not answer";
  }

  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    // A munged that gets the signal just before it waits for a connection does not notice it.
    const auto ended = [this] { return waitpid(pid_, nullptr, WNOHANG) != 0; };
    if (!eventually(ended, std::chrono::seconds{1})) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }

 private:
  void write_key() {
    const int fd = open((directory_.path() + "/key").c_str(), O_WRONLY | O_CREAT, 0400);
    std::string key(1024, '\0');
    const int source = open("/dev/urandom", O_RDONLY);
    EXPECT_EQ(read(source, key.data(), key.size()), static_cast<ssize_t>(key.size()));
    EXPECT_EQ(write(fd, key.data(), key.size()), static_cast<ssize_t>(key.size()));
    close(source);
    close(fd);
  }

  bool answers() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    socket().copy(name.sun_path, sizeof name.sun_path - 1);
    const bool ok = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    close(fd);
    return ok;
  }

  TemporaryDirectory directory_;
  pid_t pid_ = -1;
};

}  // namespace ares::testing
