// A thread that waits for sockets to become ready, as both the gate and the local server need it: ids instead of
// pointers, listeners that rest while no descriptor is left, and a tick each second.
// Owned by the gate or the local server; start() and stop() from its owner's thread, the rest before start() or in its callbacks. Private to rpc/.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "base/result.h"
#include "rpc/server/limits.h"
#include "rpc/server/problems.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

class EventLoop {
 public:
  using Ready = std::function<void(std::uint64_t id, std::uint32_t events)>;
  using Tick = std::function<void()>;
  using Work = std::function<bool()>;

  ~EventLoop();  // stop()

  // Never given twice.
  std::uint64_t new_id() { return ++last_id_; }

  Status open();
  // After what is ready, `work` does a little that is due; while it returns true the loop does not wait.
  void start(Ready ready, Tick tick, Work work = {});
  // Nothing runs afterwards.
  void stop();

  int epoll() const { return epoll_.fd(); }
  bool add(int fd, std::uint64_t id, std::uint32_t events);
  void remove(int fd);
  // Also in the place of one of the same id.
  void add_listener(int fd, std::uint64_t id);

  // After accepting failed with `error`. True: there is nothing more to accept now. Where descriptors or memory are used up,
  // listeners rest for a moment, for those who wait would wake the thread again and again.
  bool pause_after(int error, Problems& problems);

 private:
  void run(const std::stop_token& stop);
  void set_accepting(bool accept);

  Socket epoll_, wake_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, int> listeners_;  // descriptors by id
  bool accepting_ = true;
  Ready ready_;
  Tick tick_;
  Work work_;
  std::jthread thread_;
};

// What both say about the same problems.
void report_reserve(Problems& problems, const ConnectionLimits& limits);
void report_reopened(Problems& problems, const std::string& path, const Status& opened);

}  // namespace ares::rpc
