// Mailer: passes notices to the site's mail program, a few at a time, round-robin over users.
// post() may be called from any thread and does not block. A notice is sent at most once: it is lost
// if the process is killed, or (with a line in the log) if the queue is full or the program fails.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/job/effects/notices.h"

namespace ares::aresctld {

class Mailer {
 public:
  struct Bounds {
    std::size_t programs = 2;                       // running at once
    std::size_t waiting = 20'000;                   // of all users
    std::size_t per_user = 5'000;                   // waiting
    std::chrono::milliseconds timeout{30'000};      // of one program, before it is killed
    std::chrono::milliseconds stop_timeout{2'000};  // for waiting notices after stop() is called
  };

  // `program` is called before each mail, so that reconfigurations take effect. Empty: no mail.
  explicit Mailer(std::function<std::string()> program);
  Mailer(std::function<std::string()> program, Bounds bounds);
  ~Mailer();
  Mailer(const Mailer&) = delete;
  Mailer& operator=(const Mailer&) = delete;

  void start();
  void post(std::vector<core::Notice> notices);
  // Accepts no more, sends until `stop_timeout`, joins. Detaches a program that still runs.
  void stop();

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  void run();
  core::Notice take_next();  // with the lock held; precondition: the queue is not empty
  void send(const core::Notice& notice);
  void warn_once(const std::string& problem);
  Deadline until(Deadline own);

  std::function<std::string()> program_;
  Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, std::deque<core::Notice>> queues_;  // by user; no empty queues
  std::size_t waiting_ = 0;
  std::string last_served_user_;  // user of the last notice taken
  bool full_reported_ = false;    // the log line has been written
  bool stopping_ = false;
  Deadline stop_deadline_{};
  std::string last_warning_;  // why the program cannot be run
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
