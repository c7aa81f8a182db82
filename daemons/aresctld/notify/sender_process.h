// SenderProcess: one run of a program that sends a message, with the message on its standard input. Owned by the thread that started it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace ares::aresctld {

class SenderProcess {
 public:
  enum class Output { ignored, kept };  // standard output; standard error is ignored

  // words[0] is an absolute path. No shell; environment, descriptors, signal mask are not inherited.
  // not_found: the program does not exist.
  static Result<SenderProcess> start(const std::vector<std::string>& words,
                                     const std::string& input, Output output = Output::ignored);

  SenderProcess(SenderProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        watch_(std::move(other.watch_)),
        output_(std::move(other.output_)),
        status_(other.status_) {}
  SenderProcess& operator=(SenderProcess&&) = delete;
  // Kills the program if it has neither ended nor been detached.
  ~SenderProcess();

  // Waits up to `timeout`; returns whether the program has ended.
  bool wait(std::chrono::milliseconds timeout);
  // Kills its process group.
  void kill();
  // Lets it continue; its end is not observed.
  void detach();
  // After wait() returned true: the first 64 KiB of what it wrote.
  std::string output() const;
  // After wait() returned true: its exit code; none if a signal ended it.
  std::optional<int> exit_code() const;
  // After wait() returned true: "exited with 1", "was ended by signal 9"; empty = success.
  std::string failure() const;

 private:
  SenderProcess(pid_t pid, os::Fd watch, os::Fd output)
      : pid_(pid), watch_(std::move(watch)), output_(std::move(output)) {}

  pid_t pid_ = -1;  // -1: ended or detached
  os::Fd watch_;    // pidfd
  os::Fd output_;   // memfd that is its standard output, if that is kept
  int status_ = 0;
};

}  // namespace ares::aresctld
