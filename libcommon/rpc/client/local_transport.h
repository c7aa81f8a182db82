// Calls through a controller's local socket. The thread starts with the first asynchronous call. A request without a seal is
// sent only if the system says that the controller's user or root listens.
// Owned by a Connection; any thread. Private to rpc/.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/ids.h"
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

  // All of these with the lock held.
  bool connected();
  Result<std::shared_ptr<Link>> connect();
  Result<Calls::iterator> send(const api::Sealed& request, Clock::time_point deadline, Done* done);
  void finish(Calls::iterator call, Result<api::Sealed> result);
  void drop_link(std::shared_ptr<Link> link, const std::string& why);
  void cancel(Calls::iterator call);
  void flush(Link& link);
  void receive(const std::shared_ptr<Link>& link);
  void process_answers(Link& link);
  void poll_once(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Link>& link,
                 std::optional<Clock::time_point> until);

  void wake();
  void run();
  Error unavailable(const std::string& why) const;
  Error timed_out() const;

  const std::string peer_;
  const std::string path_;
  const UserId server_uid_;
  Socket wake_;  // an eventfd

  // The first waiting caller reads for all, unlocked while it blocks; once started, the thread.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Link> link_;
  Calls calls_;
  std::set<std::pair<Clock::time_point, std::uint32_t>> deadlines_;  // of asynchronous calls
  std::deque<std::pair<Done, Result<api::Sealed>>> finished_;        // callbacks for the thread
  std::uint32_t last_call_ = 0;
  bool reading_ = false;
  bool shut_down_ = false;
  std::jthread thread_;
};

}  // namespace ares::rpc
