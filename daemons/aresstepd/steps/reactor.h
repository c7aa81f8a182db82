// Reactor: calls a function when a descriptor is ready, and functions that were posted. The event loop
// of a step host; one thread.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "base/result.h"
#include "os/fd.h"

namespace ares::stepd {

class Reactor {
 public:
  using Handler = std::function<void(std::uint32_t events)>;  // EPOLLIN and others of epoll(7)

  static Result<std::unique_ptr<Reactor>> make();

  // The handler stays until forget(), and may be called once more for an event that was taken before.
  void watch(int fd, std::uint32_t events, Handler handler);
  void change(int fd, std::uint32_t events);  // 0: not for now
  void forget(int fd);

  // Called before the next wait, never from within post().
  void post(std::function<void()> work) { posted_.push_back(std::move(work)); }

  // Waits for events at most so long, -1: for ever, and calls the handlers.
  Status turn(int timeout_ms);

 private:
  explicit Reactor(os::Fd poll) : poll_(std::move(poll)) {}
  void run_posted();

  os::Fd poll_;
  std::map<int, std::shared_ptr<Handler>> handlers_;
  std::deque<std::function<void()>> posted_;
};

}  // namespace ares::stepd
