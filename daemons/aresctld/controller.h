// Controller: all parts of aresctld, in the order in which they start and stop.
// Owned by main; run() is called once, on the main thread.
#pragma once

#include <memory>

#include "base/result.h"
#include "config/config.h"

namespace ares::aresctld {

class Controller {
 public:
  Controller(std::shared_ptr<const config::Config> config, bool accept_rollback);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Runs until SIGTERM, SIGINT or a client's shutdown. Waits for the database at start. An error
  // tells the administrator what to do. If a commit fails permanently the process ends instead of
  // returning.
  Status run();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ares::aresctld
