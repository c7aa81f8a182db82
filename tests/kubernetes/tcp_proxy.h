// TcpProxy: passes connections on to a port of 127.0.0.1, and can cut or stall them. Owned by a test; its functions may be called by any
// thread.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "os/fd.h"

namespace ares::kubernetes {

class TcpProxy {
 public:
  explicit TcpProxy(int target);
  ~TcpProxy();

  int port() const { return port_; }
  // Ends all connections that exist now.
  void cut() {
    ++cuts_;
    wake();
  }
  // While true, no byte passes and new connections are not accepted, but none is ended.
  void stall(bool is_stalled) {
    is_stalled_ = is_stalled;
    wake();
  }
  // While true, connections are refused or ended at once.
  void refuse(bool is_refusing) {
    is_refusing_ = is_refusing;
    wake();
  }
  int accepted() const { return accepted_; }

 private:
  struct Pair {
    os::Fd client, server;
  };
  void run();
  void wake();
  void accept();
  static bool pass(const os::Fd& from, const os::Fd& to);

  int target_;
  int port_ = 0;
  os::Fd listener_, wake_;
  std::atomic<bool> is_over_ = false, is_stalled_ = false, is_refusing_ = false;
  std::atomic<int> cuts_ = 0, accepted_ = 0;
  int seen_cuts_ = 0;
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace ares::kubernetes
