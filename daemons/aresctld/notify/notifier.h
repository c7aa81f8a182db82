// Notifier: sends notices to users, by the site's mail server or mail program and by webhooks, a few at a time. post() may be called from any
// thread and does not block. A notice is lost if the controller ends before it is sent, or (with a line in the log) if the queue is full or
// it cannot be sent for notify.give_up_after. One that was sent without the sender hearing so is sent again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "aresctld/notify/delivery_queue.h"
#include "aresctld/notify/sender_command.h"
#include "config/values.h"
#include "core/job/effects/notices.h"

namespace ares::aresctld {

class Notifier {
 public:
  struct Bounds {
    std::size_t processes = 8;  // running at once
    DeliveryBounds queue{};
    std::chrono::milliseconds timeout{30'000};      // of one process, before it is killed
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
  // What became of a message, as far as the queue is concerned.
  struct Result {
    bool is_over = true;  // it was sent, or never will be
    DeliveryQueue::Failure failure{};
    std::string text{};
  };

  void run();
  Result send(const Delivery& delivery, const config::Config& config, std::string& target);
  Result run_command(const SenderCommand& command);
  void finish(Delivery delivery, const Result& result, const config::Config& config,
              const std::string& target);
  void warn_once(const std::string& problem);
  SteadyTime until(SteadyTime own);

  std::function<std::shared_ptr<const config::Config>()> config_;
  const SenderSite site_;
  const Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  DeliveryQueue queue_;
  std::uint64_t last_number_ = 0;
  bool full_reported_ = false;  // the log line has been written
  bool stopping_ = false;
  SteadyTime stop_deadline_{};
  std::string last_warning_;  // why the program cannot be run
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
