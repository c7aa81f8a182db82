// StepGate: takes connections of step hosts on other nodes (steps/handshake.h) and of programs outside of
// jobs (steps/ticket.h), checks that they may reach an attempt that runs here, and hands them over to its
// step host. A thread of its own, which only reads the records of attempts. Owned by main().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace ares::aresd {

class StepGate {
 public:
  // `refused`: the connection was not passed on.
  using Log = std::function<void(const std::string&, bool refused)>;

  // Listens on all addresses of the machine. `port` 0: the last one, if it is still free, because other
  // nodes know it for jobs that run; else any that is free. `spools` are the directories of the nodes that
  // this process serves, at least one.
  static Result<std::unique_ptr<StepGate>> open(std::uint16_t port, std::vector<std::string> spools,
                                                Log log);
  ~StepGate();
  StepGate(const StepGate&) = delete;
  StepGate& operator=(const StepGate&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  struct PendingAuth {
    os::Fd socket;
    std::string nonce;  // that it was greeted with
    std::string line;   // as far as it has come
    BootTime until{};
  };

  StepGate(os::Fd listener, os::Fd stop, std::uint16_t port, std::vector<std::string> spools,
           Log log);
  void run();
  void greet_one();
  // False: the caller is done with.
  bool read_line(PendingAuth& caller);
  Status hand_over(PendingAuth& caller);
  Status hand_over_client(PendingAuth& caller);
  static Status pass_on(PendingAuth& caller, const std::string& directory,
                        const std::string& answer);

  os::Fd listener_, stop_;
  std::uint16_t port_;
  std::vector<std::string> spools_;
  Log log_;
  std::vector<PendingAuth> pending_;
  std::thread thread_;
};

}  // namespace ares::aresd
