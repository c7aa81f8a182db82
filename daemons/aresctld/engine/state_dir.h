// StateDir: the controller's directory: its lock file, and the file with the last database
// position. Created by the main thread before anything else.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "store/journal/high_water.h"

namespace ares::aresctld {

class StateDir {
 public:
  // Creates the directory if necessary and locks it. failed_precondition: it is in use.
  static Result<StateDir> take(const std::string& path);

  StateDir(StateDir&& other) noexcept;
  StateDir& operator=(StateDir&&) = delete;
  ~StateDir();

  // data_loss if the file is damaged.
  Result<std::optional<store::HighWaterMark>> seen() const {
    return store::HighWater(high_water_).load();
  }
  const std::string& high_water() const { return high_water_; }

 private:
  StateDir(int lock, std::string high_water) : lock_(lock), high_water_(std::move(high_water)) {}

  int lock_;
  std::string high_water_;
};

}  // namespace ares::aresctld
