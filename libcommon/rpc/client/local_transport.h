// Calls through a controller's local socket. The thread starts with the first asynchronous call. A request without a seal is
// sent only if the system says that the controller's user or root listens.
// Owned by a Connection; any thread. Private to rpc/.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/ids.h"
#include "base/mutex.h"
#include "rpc/client/transport.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

class LocalTransport final : public Transport {
 public:
  LocalTransport(const Address& address, UserId server_uid);
  ~LocalTransport() override;

  Result<api::Sealed> call(const api::Sealed& request, Clock::time_point deadline) override;
  void call_async(api::Sealed request, Clock::time_point deadline, Done done) override;
  void await(std::chrono::milliseconds at_most) override;
  void shut_down() override;

 private:
  struct Link;  // one connection; its calls fail if it is lost
  struct Call {
    std::shared_ptr<Link> link;
    Clock::time_point deadline;
    Done done;  // empty: a thread waits for `result`
    std::optional<Result<api::Sealed>> result;
  };
  using Calls = std::map<std::uint32_t, Call>;

  bool connected() ARES_REQUIRES(mutex_);
  Result<std::shared_ptr<Link>> connect() ARES_REQUIRES(mutex_);
  Result<Calls::iterator> send(const api::Sealed& request, Clock::time_point deadline, Done* done)
      ARES_REQUIRES(mutex_);
  void finish(Calls::iterator call, Result<api::Sealed> result) ARES_REQUIRES(mutex_);
  void drop_link(std::shared_ptr<Link> link, const std::string& why) ARES_REQUIRES(mutex_);
  void cancel(Calls::iterator call) ARES_REQUIRES(mutex_);
  void flush(Link& link) ARES_REQUIRES(mutex_);
  void receive(const std::shared_ptr<Link>& link) ARES_REQUIRES(mutex_);
  void process_answers(Link& link) ARES_REQUIRES(mutex_);
  void poll_once(const std::shared_ptr<Link>& link, std::optional<Clock::time_point> until)
      ARES_REQUIRES(mutex_);

  void wake() ARES_REQUIRES(mutex_);
  void run();
  Error unavailable(const std::string& why) const;
  Error timed_out() const;

  const std::string peer_;
  const std::string path_;
  const UserId server_uid_;

  // The first waiting caller reads for all, unlocked while it blocks; once started, the thread.
  Mutex mutex_;
  Condition changed_;
  Socket wake_ ARES_GUARDED_BY(mutex_);  // an eventfd
  std::shared_ptr<Link> link_ ARES_GUARDED_BY(mutex_);
  Calls calls_ ARES_GUARDED_BY(mutex_);
  // Of asynchronous calls.
  std::set<std::pair<Clock::time_point, std::uint32_t>> deadlines_ ARES_GUARDED_BY(mutex_);
  // Callbacks for the thread.
  std::deque<std::pair<Done, Result<api::Sealed>>> finished_ ARES_GUARDED_BY(mutex_);
  std::uint32_t last_call_ ARES_GUARDED_BY(mutex_) = 0;
  bool reading_ ARES_GUARDED_BY(mutex_) = false;
  bool shut_down_ ARES_GUARDED_BY(mutex_) = false;
  std::jthread thread_ ARES_GUARDED_BY(mutex_);
};

}  // namespace ares::rpc
