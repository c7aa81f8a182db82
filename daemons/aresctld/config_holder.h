// ConfigHolder: the current configuration. A reconfiguration replaces it after the change is
// durable.
// Read by any thread; published by the engine thread (in the reply to Reconfigure).
#pragma once

#include <memory>
#include <mutex>

#include "config/config.h"

namespace ares::aresctld {

class ConfigHolder {
 public:
  explicit ConfigHolder(std::shared_ptr<const config::Config> config)
      : config_(std::move(config)) {}

  // Immutable: a reader keeps its pointer for as long as it uses the configuration.
  std::shared_ptr<const config::Config> read() const {
    const std::lock_guard lock(mutex_);
    return config_;
  }
  // The policy of the current configuration; valid as long as the pointer.
  std::shared_ptr<const Policy> policy() const {
    auto config = read();
    return {config, &config->policy};
  }
  void publish(std::shared_ptr<const config::Config> config) {
    const std::lock_guard lock(mutex_);
    config_ = std::move(config);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const config::Config> config_;
};

}  // namespace ares::aresctld
