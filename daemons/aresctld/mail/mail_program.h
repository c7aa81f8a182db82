// MailProgram: one run of the site's mail program, with the text on its standard input.
// Owned by the mailer's thread that started it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ares::aresctld {

class MailProgram {
 public:
  // words[0] is an absolute path. No shell; environment, descriptors, signal mask are not inherited;
  // output goes to /dev/null. not_found: the program does not exist.
  static Result<MailProgram> start(const std::vector<std::string>& words, const std::string& input);

  MailProgram(MailProgram&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        watch_(std::exchange(other.watch_, -1)),
        status_(other.status_) {}
  MailProgram& operator=(MailProgram&&) = delete;
  // Kills the program if it has neither ended nor been detached.
  ~MailProgram();

  // Waits up to `timeout`; returns whether the program has ended.
  bool wait(std::chrono::milliseconds timeout);
  // Kills its process group.
  void kill();
  // Lets it continue; its end is not observed.
  void detach();
  // After wait() returned true: "exited with 1", "was ended by signal 9"; empty = success.
  std::string failure() const;

 private:
  MailProgram(pid_t pid, int watch) : pid_(pid), watch_(watch) {}

  pid_t pid_ = -1;  // -1: ended or detached
  int watch_ = -1;  // pidfd
  int status_ = 0;
};

}  // namespace ares::aresctld
