// The PAM session around a job, held by another process (daemons/pam), because this program is
// static and cannot load libpam. Opened in the job's first process while it is root;
// single-threaded.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace ares::stepd {

class PamSession {
 public:
  // Runs `helper`, or ares-pam beside this program. An error says why there is no session.
  static Result<PamSession> open(const std::string& service, const std::string& user,
                                 const std::string& helper = {});

  // Variables that the session sets: "NAME=value".
  const std::vector<std::string>& environment() const { return environment_; }
  // This process gets the resource limits that the session has set for its own.
  void take_limits() const;
  // For a child that does not own the session.
  void disown() { hold_.reset(); }
  // Closes the session and waits for that, but not for ever.
  void close();

 private:
  PamSession(pid_t helper, os::Fd hold) : helper_(helper), hold_(std::move(hold)) {}

  pid_t helper_ = 0;
  os::Fd hold_;  // the session is closed when the other end sees the end
  std::vector<std::string> environment_;
};

// `variables` with those of `more`, which precede.
void set_variables(std::vector<std::string>& variables, const std::vector<std::string>& more);

}  // namespace ares::stepd
