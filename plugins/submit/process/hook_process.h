// HookProcess: a running ares-submit-hook that answers one call after the other. Owned by one thread at a time.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "os/fd.h"
#include "submit/message/hook_message.h"

namespace ares::submit {

class HookProcess {
 public:
  // `program`: the path of ares-submit-hook. not_found: there is none. unavailable: it cannot be started.
  static Result<HookProcess> start(const std::string& program);

  HookProcess(HookProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  HookProcess& operator=(HookProcess&&) = delete;
  ~HookProcess();  // kills it

  // Sends the call and waits for the answer, for the call's time limit and a second. resource_exhausted: the process was killed because it
  // did not answer. unavailable: it ended. After an error no other call can be made.
  Result<HookAnswer> answer(const HookCall& call);

 private:
  HookProcess(pid_t pid, os::Fd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_ = -1;
  os::Fd socket_;  // not blocking
};

}  // namespace ares::submit
