// MailProgram: one run of the site's mail program, with a text on its standard input and nothing else of the controller's.
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
  // words[0] is its absolute path. Neither a shell nor the controller's environment, descriptors or blocked signals are passed on;
  // output goes to /dev/null. not_found when there is no such program.
  static Result<MailProgram> start(const std::vector<std::string>& words, const std::string& input);

  MailProgram(MailProgram&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        watch_(std::exchange(other.watch_, -1)),
        status_(other.status_) {}
  MailProgram& operator=(MailProgram&&) = delete;
  // Kills what neither ended nor was left.
  ~MailProgram();

  // Whether it has ended by then.
  bool wait(std::chrono::milliseconds timeout);
  // With everything it started in its process group.
  void kill();
  // Lets it run on by itself: its end is looked at by nobody.
  void detach();
  // After wait() said yes: "exited with 1", "was ended by signal 9"; empty = success.
  std::string failure() const;

 private:
  MailProgram(pid_t pid, int watch) : pid_(pid), watch_(watch) {}

  pid_t pid_ = -1;  // -1: ended, or left
  int watch_ = -1;  // pidfd
  int status_ = 0;
};

}  // namespace ares::aresctld
