// ConfigHolder: the current configuration. A reconfiguration replaces it after the change is
// durable.
// Read by any thread; published by the engine thread (in the reply to Reconfigure).
#pragma once

#include <memory>

#include "base/mutex.h"
#include "config/config.h"

namespace ares::aresctld {

class ConfigHolder {
 public:
  explicit ConfigHolder(std::shared_ptr<const config::Config> config)
      : config_(std::move(config)) {}

  // Immutable: a reader keeps its pointer for as long as it uses the configuration.
  std::shared_ptr<const config::Config> read() const {
    const Lock lock(mutex_);
    return config_;
  }
  // The policy of the current configuration; valid as long as the pointer.
  std::shared_ptr<const Policy> policy() const {
    auto config = read();
    return {config, &config->policy};
  }
  void publish(std::shared_ptr<const config::Config> config) {
    const Lock lock(mutex_);
    config_ = std::move(config);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const config::Config> config_ ARES_GUARDED_BY(mutex_);
};

}  // namespace ares::aresctld
