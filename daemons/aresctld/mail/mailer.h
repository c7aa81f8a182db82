// Mailer: hands notices to the site's mail program, a few at a time, users in turn, and waits for nobody's mail server.
// post() may be called from any thread and does not block. A notice is told at most once: what waits when the process is killed,
// what the queue has no room for and what the program fails at is lost, the latter two with a line in the log.
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
    std::size_t programs = 2;                       // at once
    std::size_t waiting = 20'000;                   // in all
    std::size_t per_user = 5'000;                   // waiting
    std::chrono::milliseconds timeout{30'000};      // with one program, before it is killed
    std::chrono::milliseconds stop_timeout{2'000};  // for what waits when stop() is called
  };

  // `program` says which program to run; asked before each mail, so that a reconfiguration takes effect. Empty: no mail.
  explicit Mailer(std::function<std::string()> program);
  Mailer(std::function<std::string()> program, Bounds bounds);
  ~Mailer();
  Mailer(const Mailer&) = delete;
  Mailer& operator=(const Mailer&) = delete;

  void start();
  void post(std::vector<core::Notice> notices);
  // Takes in nothing more, sends what waits as far as the farewell allows, joins. A program that still runs then is left alone.
  void stop();

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  void run();
  core::Notice take_next();  // under the lock; precondition: something waits
  void send(const core::Notice& notice);
  void warn_once(const std::string& problem);
  Deadline until(Deadline own);

  std::function<std::string()> program_;
  Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, std::deque<core::Notice>> queues_;  // by user; none empty
  std::size_t waiting_ = 0;
  std::string last_served_user_;  // the user whose mail was taken last
  bool full_reported_ = false;    // said so
  bool stopping_ = false;
  Deadline stop_deadline_{};
  std::string last_warning_;  // of the program that cannot be run
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
