// A process of aresd's own program in which the library of a driver runs, so that calls that block
// or crash do not harm aresd. Owned by one thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace ares::aresd {

class DriverProcess {
 public:
  // Runs the command, with this program in place of an empty first word. Its standard output and
  // error can be read here. It is in a process group of its own and inherits no other descriptor.
  static Result<DriverProcess> start(std::vector<std::string> command);
  DriverProcess(DriverProcess&& other) noexcept;
  DriverProcess& operator=(DriverProcess&&) = delete;
  ~DriverProcess() { (void)kill(); }

  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  pid_t pid() const { return pid_; }

  // Whether it has ended by then; status() has its status as waitpid() gives it.
  bool wait(std::chrono::steady_clock::time_point deadline);
  int status() const { return status_; }
  // Kills its group. False: the kernel keeps it, for a driver, and it is left behind.
  bool kill();

 private:
  DriverProcess(pid_t pid, os::Fd out, os::Fd err)
      : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}

  pid_t pid_ = 0;
  bool ended_ = false;
  int status_ = 0;
  os::Fd out_, err_;
};

}  // namespace ares::aresd
