// CredentialProgram: one run of the program of an exec plugin, without a shell and without waiting for it. Owned by Credentials; one
// thread. Its destructor kills what still runs. Nothing else in the process may wait for any child (waitpid(-1)).
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "exec/kubernetes/api/login/access.h"
#include "os/fd.h"

namespace ares::kubernetes {

class CredentialProgram {
 public:
  // It must end before `deadline`. failed_precondition: it cannot be started; the message has the plugin's hint.
  static Result<std::unique_ptr<CredentialProgram>> start(const ExecPlugin& plugin,
                                                          const std::string& info,
                                                          BootTime deadline);
  ~CredentialProgram();
  CredentialProgram(const CredentialProgram&) = delete;
  CredentialProgram& operator=(const CredentialProgram&) = delete;

  // Becomes readable when poll() has work.
  int event_fd() const { return events_.get(); }
  BootTime deadline() const { return deadline_; }

  // Its output; none: it still runs. unavailable: it failed, wrote too much or took too long; with the last line that it wrote to
  // standard error.
  std::optional<Result<std::string>> poll(BootTime now);

 private:
  CredentialProgram(std::string command, BootTime deadline)
      : command_(std::move(command)), deadline_(deadline) {}
  Status watch(int fd);
  void read_some(os::Fd& fd, std::string& into, std::size_t most);
  void stop();
  tl::unexpected<Error> failed(const std::string& how) const;

  std::string command_;
  BootTime deadline_;
  pid_t pid_ = -1;
  os::Fd process_;  // pidfd
  os::Fd output_, errors_;
  os::Fd events_;
  std::string output_text_, error_text_;
  bool is_too_long_ = false;
};

}  // namespace ares::kubernetes
