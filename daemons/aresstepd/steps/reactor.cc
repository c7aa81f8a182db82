#include "aresstepd/steps/reactor.h"

#include <cerrno>
#include <iterator>
#include <utility>

namespace ares::stepd {

Result<std::unique_ptr<Reactor>> Reactor::make() {
  os::Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  if (!poll) return fail(os::errno_error("cannot make an event loop"));
  return std::unique_ptr<Reactor>(new Reactor(std::move(poll)));
}

void Reactor::watch(int fd, std::uint32_t events, Handler handler) {
  handlers_[fd] = std::make_shared<Handler>(std::move(handler));
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

// A descriptor that is watched for nothing would still report that its other end is closed.
void Reactor::change(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (events == 0)
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  else if (::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, fd, &event) != 0)
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Reactor::forget(int fd) {
  handlers_.erase(fd);
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void Reactor::run_posted() {
  while (!posted_.empty()) {
    const std::function<void()> work = std::move(posted_.front());
    posted_.pop_front();
    work();
  }
}

Status Reactor::turn(int timeout_ms) {
  run_posted();
  epoll_event events[64];
  const int count = ::epoll_wait(poll_.get(), events, std::size(events), timeout_ms);
  if (count < 0 && errno != EINTR) return fail(os::errno_error("cannot wait for events"));
  for (int i = 0; i < count; ++i) {
    const auto it = handlers_.find(events[i].data.fd);
    if (it == handlers_.end()) continue;
    const std::shared_ptr<Handler> handler = it->second;  // it may forget itself
    (*handler)(events[i].events);
  }
  run_posted();
  return {};
}

}  // namespace ares::stepd
