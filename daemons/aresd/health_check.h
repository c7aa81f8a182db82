// HealthCheck: runs the site's health check again and again, in a thread of its own. Owned by main();
// its destructor ends the program and the thread.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/time.h"
#include "os/fd.h"

namespace ares::aresd {

struct HealthCheckSetup {
  std::string program;  // absolute path
  Seconds interval{60};
  Seconds timeout{60};
};

class HealthCheck {
 public:
  // `tell` is called on the thread after each check: why the node is unfit for jobs, or an empty
  // text.
  HealthCheck(HealthCheckSetup setup, std::function<void(std::string unhealthy)> tell);
  ~HealthCheck();
  HealthCheck(const HealthCheck&) = delete;
  HealthCheck& operator=(const HealthCheck&) = delete;

  // One check: the text for `tell`. `cancel` becomes readable when it is to end at once.
  static std::string run_once(const HealthCheckSetup& setup, int cancel);

 private:
  HealthCheckSetup setup_;
  std::function<void(std::string)> tell_;
  os::Fd cancel_;  // eventfd
  std::jthread thread_;
};

}  // namespace ares::aresd
