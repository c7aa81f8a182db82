// Notifier: sends notices to users, by the site's mail server or mail program and by webhooks, a few at a time. post() may be called from any
// thread and does not block. A notice is lost if the controller ends before it is sent, or (with a line in the log) if the queue is full or
// it cannot be sent for notify.give_up_after. One that was sent without the sender hearing so is sent again.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "aresctld/notify/delivery_queue.h"
#include "aresctld/notify/sender_command.h"
#include "base/mutex.h"
#include "config/values.h"
#include "core/job/effects/notices.h"

namespace ares::aresctld {

class Notifier {
 public:
  struct Bounds {
    DeliveryBounds queue{};  // one thread for each message that may be sent at once
    std::chrono::milliseconds timeout{30'000};  // of the mail program, before it is killed
    std::chrono::milliseconds notify_timeout{
        150'000};  // the same of ares-notify, which has limits of its own
    std::chrono::milliseconds stop_timeout{2'000};  // for waiting notices after stop() is called
  };

  // `config` is called for each message, so that reconfigurations take effect.
  Notifier(std::function<std::shared_ptr<const config::Config>()> config, SenderSite site);
  Notifier(std::function<std::shared_ptr<const config::Config>()> config, SenderSite site,
           Bounds bounds);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void start();
  void post(std::vector<core::Notice> notices);
  // Accepts no more, sends what is due until `stop_timeout`, joins. Detaches a process that still runs.
  void stop();

 private:
  // What became of a message.
  struct Result {
    enum class Kind { sent, dropped, failed };
    Kind kind = Kind::sent;
    DeliveryQueue::Failure failure{};
    std::string text{};  // why it was not sent
  };

  void run();
  Result send(const Delivery& delivery, const config::Config& config, std::string& target);
  Result run_command(const SenderCommand& command);
  void finish(Delivery delivery, const Result& result, const config::Config& config,
              const std::string& target);
  void finish_for_good(const Delivery& delivery, const Result& result, const std::string& place);
  void look_at_config() ARES_REQUIRES(mutex_);
  void drop_expired() ARES_REQUIRES(mutex_);
  void note_start(const std::string& program, const std::string& problem);
  SteadyTime until(SteadyTime own);

  std::function<std::shared_ptr<const config::Config>()> config_;
  const SenderSite site_;
  const Bounds bounds_;
  Mutex mutex_;
  Condition wake_;
  DeliveryQueue queue_ ARES_GUARDED_BY(mutex_);
  std::uint64_t last_number_ ARES_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ ARES_GUARDED_BY(mutex_) = 0;  // for lack of room, since that was reported
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  SteadyTime stop_deadline_ ARES_GUARDED_BY(mutex_);
  // Programs that cannot be run, and why.
  std::map<std::string, std::string> unusable_ ARES_GUARDED_BY(mutex_);
  std::shared_ptr<const config::Config> config_seen_ ARES_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
