#include "rpc/wire/received_bytes.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <unordered_map>
#include <utility>

#include "base/shared_mutex.h"

namespace ares::rpc {
namespace {

struct Watches {
  std::atomic<std::size_t> count = 0;  // so that a client pays for nothing
  SharedMutex mutex;
  std::unordered_map<int, std::shared_ptr<ReceiveWatch>> by_fd ARES_GUARDED_BY(mutex);
};

Watches& watches() {
  // Never deleted, because gRPC's threads may outlive static objects.
  static auto* const all = new Watches;  // NOLINT(cppcoreguidelines-owning-memory)
  return *all;
}

std::shared_ptr<ReceiveWatch> watch_of(int fd) {
  Watches& all = watches();
  if (all.count.load(std::memory_order_acquire) == 0) return nullptr;
  const ReadLock lock(all.mutex);
  const auto found = all.by_fd.find(fd);
  return found == all.by_fd.end() ? nullptr : found->second;
}

bool show(ReceiveWatch& watch, const msghdr& message, std::size_t size) {
  for (std::size_t i = 0; i < message.msg_iovlen && size > 0; ++i) {
    const std::size_t part = std::min(size, message.msg_iov[i].iov_len);
    if (!watch.received({static_cast<const char*>(message.msg_iov[i].iov_base), part}))
      return false;
    size -= part;
  }
  return true;
}

// Null `watch`: any.
void remove(int fd, const ReceiveWatch* watch) {
  Watches& all = watches();
  std::shared_ptr<ReceiveWatch> gone;  // goes after the lock
  const WriteLock lock(all.mutex);
  const auto found = all.by_fd.find(fd);
  if (found == all.by_fd.end() || (watch && found->second.get() != watch)) return;
  gone = std::move(found->second);
  all.by_fd.erase(found);
  all.count.store(all.by_fd.size(), std::memory_order_release);
}

}  // namespace

void watch_received(int fd, std::shared_ptr<ReceiveWatch> watch) {
  Watches& all = watches();
  const WriteLock lock(all.mutex);
  all.by_fd.insert_or_assign(fd, std::move(watch));
  all.count.store(all.by_fd.size(), std::memory_order_release);
}

void unwatch_received(int fd, const ReceiveWatch* watch) {
  remove(fd, watch);
}

void unwatch_received(int fd) {
  remove(fd, nullptr);
}

}  // namespace ares::rpc

extern "C" {
ssize_t __real_recvmsg(int, msghdr*, int);  // NOLINT(bugprone-reserved-identifier)
ssize_t __wrap_recvmsg(int, msghdr*, int);  // NOLINT(bugprone-reserved-identifier)
ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  const ssize_t size = __real_recvmsg(fd, message, flags);
  if (size <= 0) return size;
  const auto watch = ares::rpc::watch_of(fd);
  if (!watch || ares::rpc::show(*watch, *message, static_cast<std::size_t>(size))) return size;
  errno = ECONNRESET;
  return -1;
}
}
