// Dialer: connects to the step host of another node of the attempt (steps/handshake.h). Owned by the step
// host; one thread.
#pragma once

#include <functional>
#include <string>

#include "aresstepd/steps/reactor.h"
#include "base/result.h"
#include "os/fd.h"
#include "steps/handshake.h"

namespace ares::stepd {

class Dialer {
 public:
  // Called once, not from within the constructor: the connection, ready for frames, or why there is none.
  using Done = std::function<void(Result<os::Fd> connection)>;

  // `address` is "HOST:PORT" with a numeric host. `dial` lacks the nonce and the proof.
  Dialer(Reactor& reactor, const std::string& address, steps::Dial dial, std::string key,
         Done done);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

 private:
  Status begin(const std::string& address);
  void ready(std::uint32_t events);
  Status advance(const std::string& line);
  void finish(Result<os::Fd> result);

  Reactor& reactor_;
  steps::Dial dial_;
  std::string key_;
  Done done_;
  os::Fd socket_;
  bool connected_ = false;
  std::string theirs_;  // nonce of the node daemon, from its greeting
  std::string line_;
  bool finished_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ares::stepd
